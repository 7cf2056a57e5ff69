import BluetoothCore
import EventLoop

/// Answers of several frames.
extension Ring {
  /// After the last frame of a log, those that are missing are waited for no longer than this.
  static let stragglerTime = Duration.seconds(1)

  /// Asks for a log. If frames of the answer are lost, it is asked for once more.
  ///
  /// - Parameter progress: called with the frames that are there and those that the log has
  /// - Throws: `.incomplete` if frames are missing both times, `.notAnswered`, `.refused`, `.malformed`
  public func log<Assembler>(
    _ log: Log<Assembler>, _ request: Assembler.Request, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> Assembler.Contents {
    for attempt in 1... {
      var assembler = Assembler(request)
      var contents: Assembler.Contents?
      var missing = 0
      do throws(RingError) {
        try await exchange(.frame(log.request(request))) { answer in
          guard case .frame(let frame) = answer else { return .notMine }
          do throws(RingFrameError) {
            switch try assembler.receive(frame) {
            case .incomplete(let received, let count):
              progress?(received, count)
              missing = max(1, (count ?? 0) - received)
              return .more
            case .gaps(let gaps):
              missing = gaps.count
              return .moreWithin(Ring.stragglerTime)
            case .complete(let result):
              contents = result
              return .done
            }
          } catch {
            return .failed(.malformed(.frame(log.command), error))
          }
        }
      } catch .notAnswered where missing > 0 {
        guard attempt < 2 else { throw .incomplete(.frame(log.command), missing: missing) }
        continue
      }
      if let contents { return contents }
      break
    }
    throw .cancelled
  }
}
