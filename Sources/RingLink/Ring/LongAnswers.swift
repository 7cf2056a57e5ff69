import HaloBluetoothCore

/// Answers of several frames.
extension RingClient {
  /// After the last frame of a log, those that are missing are waited for no longer than this.
  nonisolated fileprivate static let stragglerTime = Duration.seconds(1)
  /// Frames do not contain the day: repeated frames must not arrive after the request for the next day.
  private static let pauseAfterLog = Duration.milliseconds(100)

  /// Requests a log. If frames of the answer are lost, the request is repeated once; frames of the first answer count.
  ///
  /// - Parameters:
  ///   - log: the form of the request and the answer
  ///   - request: the contents of the request
  ///   - progress: called with the frames that are there and those that the log has
  /// - Throws: `.incomplete` if frames are missing both times, `.notAnswered`, `.refused`, `.malformed`
  package func log<Assembler>(
    _ log: RingLog<Assembler>, _ request: Assembler.Request, progress: ((Int, Int?) -> Void)? = nil
  ) async throws(RingError) -> Assembler.Contents {
    switch try await receive(log, request, progress: progress) {
    case .contents(let contents): return contents
    case .unreadable(let error, _): throw .malformed(.frame(log.command), error)
    }
  }

  /// The same; an answer that cannot be read is returned with its frames.
  func receive<Assembler>(
    _ log: RingLog<Assembler>, _ request: Assembler.Request, progress: ((Int, Int?) -> Void)?
  ) async throws(RingError) -> LogAnswer<Assembler.Contents> {
    var reception = LogReception(Assembler(request))
    for attempt in 1... {
      reception.beginAttempt()
      do throws(RingError) {
        try await exchange(.frame(log.request(request))) { answer in
          guard case .frame(let frame) = answer else { return .notMine }
          return reception.receive(frame, progress: progress)
        }
      } catch .notAnswered(let subject, let seconds) {
        if reception.contents != nil { break }
        if reception.failure != nil { break }
        guard reception.missing > 0 else { throw .notAnswered(subject, seconds: seconds) }
        guard attempt < 2 else { throw .incomplete(subject, missing: reception.missing) }
        continue
      }
      break
    }
    if let failure = reception.failure { return .unreadable(failure, reception.frames) }
    guard let contents = reception.contents else { throw .cancelled }
    await timers.sleep(for: RingClient.pauseAfterLog)
    return .contents(contents)
  }
}

/// A ring's answer to the request for a log.
enum LogAnswer<Contents: Sendable>: Sendable {
  case contents(Contents)
  /// It cannot be read; its frames are those that arrived.
  case unreadable(RingFrameError, [RingFrame])
}

/// The received frames of a log, and whether a frame keeps the exchange open: a repeated one does not, so that a ring
/// that repeats frames cannot hold it forever.
private struct LogReception<Assembler: LogAssembler> {
  private var assembler: Assembler
  private var seen: Set<RingFrame> = []
  /// The frames of the last attempt, in the order in which they arrived.
  private(set) var frames: [RingFrame] = []
  private var attempt = 0
  /// The number of frames in the answer, if the ring has reported it.
  private var expected: Int?
  /// At least this many frames are missing; 0 if none was received.
  private(set) var missing = 0
  /// Why the answer cannot be parsed.
  private(set) var failure: RingFrameError?
  private(set) var contents: Assembler.Contents?

  init(_ assembler: Assembler) { self.assembler = assembler }

  mutating func beginAttempt() {
    seen = []
    frames = []
    attempt += 1
  }

  mutating func receive(_ frame: RingFrame, progress: ((Int, Int?) -> Void)?) -> RingExchange.Acceptance {
    // No answer has more frames than a byte can count.
    let isNew = seen.count < 256 && seen.insert(frame).inserted
    if isNew { frames.append(frame) }
    // The rest of a malformed answer must not be mistaken for the next answer.
    guard failure == nil else { return .nothingNew }
    if contents != nil { return isNew ? end : .nothingNew }
    do throws(RingFrameError) {
      switch try assembler.receive(frame) {
      case .incomplete(let received, let count):
        missing = max(1, (count ?? 0) - received)
        expected = count
        if isNew { progress?(received, count) }
        return isNew ? .more : .nothingNew
      case .gaps(let gaps):
        missing = gaps.count
        return isNew ? .moreWithin(RingClient.stragglerTime) : .nothingNew
      case .complete(let contents):
        self.contents = contents
        return end
      }
    } catch {
      failure = error
      return .moreWithin(RingClient.stragglerTime)
    }
  }

  /// Complete. After a repeated request this can precede the ring's last frame: the rest, too, must not be mistaken for
  /// the next answer.
  private var end: RingExchange.Acceptance {
    attempt > 1 && expected.map { seen.count < $0 } ?? true ? .moreWithin(RingClient.stragglerTime) : .done
  }
}

/// The second pair of characteristics, for long answers (ring reference, 3 and 6).
extension RingClient {
  /// The timeout for the answer to a bulk request, and between two pieces of an answer.
  static let bulkSilence = Duration.seconds(5)
  /// After the last frame of an answer, the ring has to be silent for this time. Some rings answer in one frame, others in one
  /// a day, without a number of frames to come. A ring that has set its own parameters (125 ms, latency 4) may send the next
  /// one 625 ms later.
  private static let restOfAnswer = Duration.seconds(1)
  /// A ring that sends more is not listened to any longer.
  private static let mostFrames = 128

  /// Requests bulk frames. If one is damaged in transit, the request is repeated once.
  ///
  /// The answer is over when a frame holds all that was requested, or when the ring has sent nothing for a second.
  ///
  /// - Parameters:
  ///   - query: the form of the request and the answer
  ///   - request: the contents of the request
  ///   - progress: called with the bytes that are there and those that a frame has
  /// - Returns: the contents of each frame, in the order in which they came; at least one
  /// - Throws: `.noBulkService`, `.notAnswered`, `.damaged`, `.malformedBulk`
  package func bulk<Contents>(
    _ query: BulkQuery<Contents>, _ request: Contents.Request, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [Contents] {
    let frames = try await bulkFrames(
      .bulk(query.id, payload: request.payload), answeredBy: query.replyID,
      isWhole: { (try? Contents(payload: $0.payload))?.isAll(of: request) ?? false }, progress: progress)
    var contents: [Contents] = []
    for frame in frames where frame.id == query.replyID { contents.append(try readable(frame)) }
    return contents
  }

  /// The bulk frames that answer a request, in the order in which they came.
  ///
  /// - Parameters:
  ///   - companion: an id that rings send uninvited before or after the answer
  ///   - isWhole: whether a frame of the answer holds all that was requested, so that none follows
  func bulkFrames(
    _ message: RingMessage, answeredBy reply: BulkID, with companion: BulkID? = nil,
    isWhole: @escaping (BulkFrame) -> Bool = { _ in false }, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [BulkFrame] {
    try await openBulk()
    for attempt in 1... {
      var frames: [BulkFrame] = []
      do throws(RingError) {
        try await exchange(
          message, bulkReplies: Set([reply, companion].compactMap { $0 }), silence: RingClient.bulkSilence,
          progress: progress
        ) {
          guard case .bulk(let frame) = $0 else { return .notMine }
          guard !frames.contains(frame) else { return .nothingNew }
          frames.append(frame)
          guard frames.count < RingClient.mostFrames, frame.id != reply || !isWhole(frame) else {
            return .done
          }
          return frames.contains { $0.id == reply } ? .moreWithin(RingClient.restOfAnswer) : .nothingNew
        }
        return frames
      } catch .damaged where attempt < 2 {
        continue
      } catch .notAnswered where frames.contains(where: { $0.id == reply }) {
        return frames
      }
    }
    throw .cancelled
  }

  /// The contents of a bulk frame.
  func readable<Contents: BulkContents>(_ frame: BulkFrame) throws(RingError) -> Contents {
    do throws(BulkContentsError) {
      return try Contents(payload: frame.payload)
    } catch {
      throw .malformedBulk(frame.id, error)
    }
  }

  /// Finds the bulk service and switches its notifications on; once a link.
  func openBulk() async throws(RingError) {
    guard bulkWrite == nil else { return }
    let found = try await RingError.of(
      await gatt.characteristics(RingGATT.bulkService, RingGATT.bulkWrite, RingGATT.bulkNotify))
    guard let found else { throw .noBulkService }
    let dispatcher = self.dispatcher
    _ = try await RingError.of(
      await gatt.subscribe(to: found.notify) { dispatcher.receiveBulk($0, at: $1) })
    bulkNotify = found.notify
    bulkWrite = found.write
  }

  func sendBulk(_ id: BulkID, payload: [UInt8]) {
    guard let bulkWrite else { return }
    var writer = ByteWriter(capacity: BulkFrame.headerLength + payload.count)
    do throws(BulkFrameError) {
      try BulkFrame.write(id, payload: payload, into: &writer)
    } catch {
      return dispatcher.close(.dangerous(error.description))
    }
    post(
      writer.bytes, to: bulkWrite, hasResponse: !bulkWrite.properties.contains(.writeWithoutResponse))
  }
}
