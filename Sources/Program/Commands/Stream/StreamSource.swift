import HaloCommandLine
import RingLink

/// One of the two streams of samples that rings have.
enum StreamSource: Hashable, Sendable {
  /// Command 0xA1: all sensors, not numbered.
  case raw
  /// Command 0x69: one light and acceleration, each frame with a number. Few rings have it.
  case counted(CountedSample.Light)

  /// The stream that the user requests.
  enum Choice: String, CaseIterable, Sendable {
    /// The counted stream, if the ring has it and it has all that is wanted.
    case auto
    case counted
    case raw
  }

  var isCounted: Bool { self != .raw }

  /// The name in the description of the data.
  var name: String { isCounted ? "counted" : "raw" }

  var title: String {
    switch self {
    case .raw: "the raw stream, 0xA1, which is not counted"
    case .counted(let light): "the counted stream of \(light), 0x69"
    }
  }
}

/// Which stream a ring is to send.
struct ChosenStream: Sendable {
  var source: StreamSource
  /// Whether it was chosen for the ring: the raw stream may take the place of one that the ring does not have.
  var isChosen = false
  /// Whether the ring was asked for the counted stream, and does not have it. It is not certain before the ring has sent a
  /// sample of the other one: it may be on its charger.
  var isDenied = false
}

extension SampleKinds {
  /// The light of a counted stream that has all these kinds; nil if they need two.
  var countedLight: CountedSample.Light? {
    contains([.ppg, .spo2]) ? nil : contains(.spo2) ? .red : .green
  }
}

extension StreamOptions {
  /// Whether the stream may be the counted one.
  var mayBeCounted: Bool { source != .raw && kinds.countedLight != nil }
}

extension Session {
  /// How long a ring may take to its first sample when it is asked whether it has the counted stream.
  private static let answerDeadline = Duration.milliseconds(1500)

  /// Chooses the stream. A ring whose firmware is not known to have the counted one, or not to have it, is asked: it is left
  /// streaming if it has it.
  func chooseStream(of ring: RingClient, _ options: StreamOptions) async throws -> ChosenStream {
    guard options.mayBeCounted, let light = options.kinds.countedLight else {
      return ChosenStream(source: .raw)
    }
    if options.source == .counted { return ChosenStream(source: .counted(light)) }
    var stream = ChosenStream(source: .raw, isChosen: true)
    if isReplay, notes.countedStream == nil { return stream }
    if ring.firmware.firmwareRevision == nil { try await identify(ring) }
    let known = countedStreamIsKnown(of: ring)
    if !isReplay { record(.countedStream(known)) }
    if let known {
      if known { stream.source = .counted(light) }
      return stream
    }
    do throws(RingError) {
      try await ring.startCountedStream(light, within: Self.answerDeadline) { _, _ in }
      remember(countedStream: true, of: ring)
      stream.source = .counted(light)
    } catch .countedStream(_, let failure) {
      note("the ring has no counted stream of \(light): \(failure)")
      stream.isDenied = failure.isDefinite
    } catch {
      // Without this, Swift 6.2 does not compile the function: it crashes.
      throw error
    }
    return stream
  }

  /// Whether a ring has the counted stream of green light. It is asked if that is not known.
  func hasCountedStream(_ ring: RingClient) async throws -> Bool {
    if ring.firmware.firmwareRevision == nil { try await identify(ring) }
    if let known = countedStreamIsKnown(of: ring) { return known }
    do throws(RingError) {
      try await ring.startCountedStream(.green, within: Self.answerDeadline) { _, _ in }
    } catch {
      guard case .countedStream(_, let failure) = error else { throw error }
      if failure.isDefinite { remember(countedStream: false, of: ring) }
      return false
    }
    await ring.stopCountedStream()
    remember(countedStream: true, of: ring)
    return true
  }

  /// Nil if the ring has to be asked.
  private func countedStreamIsKnown(of ring: RingClient) -> Bool? {
    if isReplay { return notes.countedStream ?? false }
    return ring.firmware.family.hasCountedStream
      ?? ring.firmware.firmwareRevision.flatMap { countedFirmware.answers($0) }
  }

  /// Stores whether a ring's firmware has the counted stream.
  func remember(countedStream answers: Bool, of ring: RingClient) {
    guard !isReplay, let firmware = ring.firmware.firmwareRevision else { return }
    countedFirmware.remember(firmware, answers: answers)
  }
}
