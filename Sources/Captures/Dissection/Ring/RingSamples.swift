import RingLink

extension DissectedPacket {
  /// How a ring encodes acceleration, by the revision of its firmware, if this is a response with that.
  package var accelerometerEncoding: AccelerometerEncoding? {
    readText(of: RingGATT.firmwareRevision).flatMap {
      RingFirmware(firmwareRevision: $0, hardwareRevision: nil).accelerometerEncoding
    }
  }
}

extension RingLayer {
  /// The sample in a value of a ring; nil for any other value.
  package var sample: RawSample? {
    if case .frame(let meaning) = content, isFromRing { RawSample(meaning.frame) } else { nil }
  }

  /// The sample of the counted stream in a value of a ring; nil for any other value.
  package var countedSample: CountedSample? {
    guard case .frame(let meaning) = content, isFromRing else { return nil }
    return CountedSample(meaning.frame).flatMap { $0.status == 0 ? $0 : nil }
  }

  /// Whether a value to a ring requests a counted stream.
  package var requestsCountedStream: Bool {
    guard case .frame(let meaning) = content, !isFromRing else { return false }
    return CountedStreamStart(meaning.frame) != nil
  }
}
