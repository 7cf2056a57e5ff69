import RingLink

extension Session {
  /// Says so, once, where something hangs on a firmware that is not known, as it is not guessed in silence.
  ///
  /// - Parameter accelerates: whether it is acceleration that is wanted, which not every known family encodes in a
  ///   known way
  func tellWhatIsUnknown(of ring: Ring, accelerates: Bool) {
    let name =
      ring.firmware.firmwareRevision.map { "firmware \($0.printable)" } ?? "a ring without a firmware's name"
    if ring.firmware.family == .unknown {
      Console.error("\(name) belongs to no family that is known: what it can do shows when it is asked")
    }
    if accelerates, ring.firmware.accelerometerEncoding == nil {
      Console.error(
        "\(name) may encode acceleration in two ways: x, y and z are empty until the stream has told which")
    }
  }
}
