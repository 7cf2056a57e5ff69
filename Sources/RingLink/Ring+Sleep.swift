/// Nights and naps (ring reference, 6.1).
extension Ring {
  /// All nights and naps that the ring has stored, in the order of time. Rings of different age want to be asked in
  /// different ways, and ignore the others: up to three are tried, five seconds each.
  ///
  /// - Parameter now: the ring's wall clock, as the host knows it
  public func sleep(
    now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [SleepSession] {
    for request in [SleepRequest.all, .allOfOlder] {
      do throws(RingError) {
        return try await sleep(request, now: now, progress: progress)
      } catch .notAnswered {
        continue
      } catch .malformedBulk(_, .status) {
        continue
      }
    }
    return try await sleep(.empty, now: now, progress: progress)
  }

  private func sleep(
    _ request: SleepRequest, now: RingTime, progress: ((Int, Int) -> Void)?
  ) async throws(RingError) -> [SleepSession] {
    let frames = try await bulkFrames(
      .bulk(CommandTable.sleep.id, payload: request.payload), answeredBy: CommandTable.sleep.id,
      with: CommandTable.naps.id, progress: progress)
    var sessions: [SleepSession] = []
    for frame in frames.values {
      let log: SleepLog = try readable(frame)
      sessions += log.days.map { $0.session(isNap: frame.id == CommandTable.naps.id, today: now.day) }
    }
    return sessions.filter { $0.end <= now }.inOrderOfStart
  }
}

extension [SleepSession] {
  /// Sorted by their start, each once.
  fileprivate var inOrderOfStart: [SleepSession] {
    Set(self).sorted { ($0.start, $0.end, $0.isNap ? 1 : 0) < ($1.start, $1.end, $1.isNap ? 1 : 0) }
  }
}
