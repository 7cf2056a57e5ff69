import BluetoothCore
import Capture
import Dissection
import HCI
import LineOutput
import RingLink

/// The samples of a ring in a capture, as `stream` prints them.
struct SampleExtraction {
  private let format: OutputFormat
  private let kinds: SampleKinds
  private var writer: SampleWriter?
  /// The encoding of acceleration, by the firmware in the capture.
  private var encoding: AccelerometerEncoding?
  /// The last loss of a link, until the next sample on another link.
  private var loss: (reason: HCIErrorCode, time: Instant)?

  init(_ format: OutputFormat, kinds: SampleKinds) {
    self.format = format
    self.kinds = kinds
  }

  mutating func add(_ packet: DissectedPacket) {
    if let firmware = packet.readText(of: RingGATT.firmwareRevision) {
      let family = RingFirmware(firmwareRevision: firmware, hardwareRevision: nil)
      if let found = family.accelerometerEncoding { encoding = found }
    }
    let (nanoseconds, overflow) = (packet.info.microseconds ?? 0).multipliedReportingOverflow(by: 1000)
    let time = Instant(nanoseconds: overflow ? 0 : nanoseconds)
    if packet.hci?.event == .disconnectionComplete, packet.hci?.status == .success, writer != nil,
      let reason = packet.bytes.last
    {
      loss = (HCIErrorCode(rawValue: reason), time)
    }
    guard let sample = packet.ring?.sample else { return }
    var writer =
      writer ?? SampleWriter(format, kinds: kinds, encoding: encoding, output: Console.output(.wait))
    if let loss { writer.printGap("connection lost: \(loss.reason)", at: loss.time) }
    loss = nil
    _ = writer.print(sample, at: time)
    self.writer = writer
  }
}
