import HaloCommandLine
import RingLink

extension Session {
  /// Warns if the firmware is of an unknown family, or its encoding of acceleration is unknown. Neither is guessed.
  ///
  /// - Parameter needsAcceleration: whether the encoding of acceleration matters
  func warnAboutUnknownFirmware(of ring: RingClient, needsAcceleration: Bool) {
    let name =
      ring.firmware.firmwareRevision.map { "firmware \($0.printable)" } ?? "the firmware of this ring"
    if ring.firmware.family == .unknown {
      Console.error("\(name) is of no known family: some commands may not work")
    }
    if needsAcceleration, ring.firmware.accelerometerEncoding == nil {
      Console.error(
        "\(name) may encode acceleration in two ways: x, y and z are empty until the stream shows which")
    }
  }
}
