import RingLink

/// The faults of log frames on a bad link. Counts over all logs, so that a frame lost the first time may arrive the
/// second.
struct LogFaults {
  private var frames = 0

  /// The remaining frames of one answer.
  mutating func apply(_ faults: VirtualRingFaults, to answer: [RingFrame]) -> [RingFrame] {
    var sent: [RingFrame] = []
    var late: RingFrame?
    for frame in answer {
      if let limit = faults.logFramesUntilSilence, frames >= limit { break }
      frames += 1
      if isDue(faults.losesLogFrameEvery) { continue }
      if isDue(faults.delaysLogFrameEvery), late == nil {
        late = frame
        continue
      }
      sent.append(frame)
      if isDue(faults.doublesLogFrameEvery) { sent.append(frame) }
      if let frame = late {
        sent.append(frame)
        late = nil
      }
    }
    return sent + [late].compactMap { $0 }
  }

  private func isDue(_ every: Int?) -> Bool {
    guard let every, every > 0 else { return false }
    return frames.isMultiple(of: every)
  }
}
