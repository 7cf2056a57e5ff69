import TestSupport
import Testing

@testable import HaloDissection

/// Values that are no quantities are words, and what is not valid is not shown as if it were.
@Suite struct SpecialValueTests {
  private let script = Script()

  /// Scans that last until they are stopped were reported as scans of no time: 0 is no duration (7.8.65).
  @Test func anEndlessScanLastsUntilItIsStopped() {
    #expect(
      script.sent("01 4220 06 01 00 0000 0000".dense).summary
        == "LE Set Extended Scan Enable: enabled yes, filter duplicates no, duration until stopped, period continuous"
    )
    #expect(
      script.sent("01 4220 06 01 00 6400 0100".dense).summary.hasSuffix("duration 1000 ms, period 1280 ms"))
  }

  @Test func advertisingWithoutLimits() {
    let packet = script.sent("01 3920 06 01 01 00 0000 00".dense)
    #expect(
      packet.value(.hci, "duration") == "until stopped" && packet.value(.hci, "max events") == "no limit")
    #expect(script.sent("01 3920 02 00 00".dense).summary.hasSuffix("enabled no, sets all"))
    let parameters = script.sent(
      "01 3620 19 01 1300 a00000 a00000 07 00 00 000000000000 00 7f 01 00 00 00 00".dense)
    #expect(parameters.value(.hci, "transmit power") == "no preference")
    #expect(parameters.value(.hci, "peer address") == "not used")
    #expect(parameters.value(.hci, "secondary PHY") == "not used")
    #expect(
      parameters.value(.hci, "event properties") == "0x0013: connectable + scannable + legacy PDUs")
    let directed = script.sent(
      "01 3620 19 01 1d00 a00000 a00000 07 00 00 efbe41383530 00 08 01 00 00 00 00".dense)
    #expect(directed.value(.hci, "peer address") == "30:35:38:41:BE:EF")
    #expect(directed.value(.hci, "transmit power") == "8 dBm")
  }

  /// An address of zeros is no device. tshark shows 00:00:00_00:00:00 as the direct address of each report.
  @Test func anUndirectedReportHasNoDirectAddress() {
    let packet = script.received(
      "04 3e 1a 0d 01 1300 01 efbe41383530 01 00 ff 7f c8 0000 00 000000000000 00".dense)
    #expect(packet.value(.hci, "direct address type") == "not used")
    #expect(packet.value(.hci, "direct address") == "not used")
    #expect(packet.value(.hci, "advertising SID") == "none")
    #expect(packet.value(.hci, "transmit power") == "not known")
    #expect(packet.value(.hci, "periodic advertising interval") == "none")
    let directed = script.received(
      "04 3e 1a 0d 01 1500 01 efbe41383530 01 00 ff 7f 7f 0000 01 efbe41383530 00".dense)
    #expect(
      directed.value(.hci, "direct address") == "30:35:38:41:BE:EF"
        && directed.value(.hci, "RSSI") == "not known")
  }

  /// Only the status of an attempt that failed is valid (Vol 4, Part E, 4.5). A handle of zero that is taken for a link has
  /// misled people: zephyrproject-rtos/zephyr 26450 is about the reason of such an event.
  @Test func anAttemptThatFailedHasNoParameters() {
    let packet = script.received("04 3e 13 01 3e 0000 00 00 000000000000 0000 0000 0000 00".dense)
    #expect(
      packet.summary
        == "LE Connection Complete: Connection Failed to be Established / Synchronization Timeout (0x3e)")
    let names = packet.fields(of: .hci).map(\.name)
    #expect(names.suffix(2) == ["status", "other parameters"])
    #expect(packet.value(.hci, "other parameters") == "not valid after a failure")
    #expect(packet.hci?.connection == nil && packet.link == nil)
  }

  /// What identifies the link or the device is valid.
  @Test func aFailureNamesItsLink() {
    let update = script.received("04 3e 0a 03 0c 4000 0000 0000 0000".dense)
    #expect(update.hci?.connection?.rawValue == 0x40)
    #expect(update.fields(of: .hci).map(\.name).suffix(2) == ["connection handle", "other parameters"])
    let name = script.received("04 07 08 04 efbe41383530 00".dense)
    #expect(name.value(.hci, "peer address") == "30:35:38:41:BE:EF" && name.value(.hci, "name") == nil)
    let page = script.received("04 03 0b 04 0000 efbe41383530 01 00".dense)
    #expect(
      page.value(.hci, "peer address") == "30:35:38:41:BE:EF"
        && page.value(.hci, "connection handle") == "not valid")
    // A number of events is valid when advertising has ended without a connection.
    let ended = script.received("04 3e 06 12 43 01 0000 05".dense)
    #expect(
      ended.value(.hci, "connection handle") == "not valid" && ended.value(.hci, "advertising events") == "5")
    let answer = script.received("04 0e 07 01 0220 01 0000 00".dense)
    #expect(answer.value(.hci, "LE ACL packets") == nil)
    let rssi = script.received("04 0e 07 01 0514 02 4000 7f".dense)
    #expect(rssi.value(.hci, "connection handle") == "0x0040" && rssi.value(.hci, "RSSI") == nil)
  }

  @Test func centralClockAccuracyIsValidOnlyInPeripheralRole() {
    #expect(
      script.received(Script.connected).value(.hci, "central clock accuracy") == "not valid in this role")
    let peripheral = script.received(
      "04 3e 1f 0a 00 4000 01 00 efbe41383530 000000000000 000000000000 1800 0000 4800 05".dense)
    #expect(peripheral.value(.hci, "central clock accuracy") == "50 ppm")
    #expect(peripheral.value(.hci, "peer resolvable private address") == "none")
  }

  /// With the filter accept list, the address in the command is ignored; hosts leave zeros or an old address there.
  @Test func peerAddressIsUnusedWithFilterAcceptList() {
    let tail = " 0018 0028 0000 4800 0000 0000"
    let listed = script.sent("01 0d20 19 6000 3000 01 00 efbe41383530 00\(tail)".dense)
    #expect(listed.value(.hci, "peer address") == "not used")
    let named = script.sent("01 0d20 19 6000 3000 00 00 efbe41383530 00\(tail)".dense)
    #expect(named.value(.hci, "peer address") == "30:35:38:41:BE:EF")
  }

  @Test func buffersAndTimeouts() {
    let buffers = script.received("04 0e 07 01 0220 00 0000 00".dense)
    #expect(buffers.value(.hci, "LE ACL data length") == "that of BR/EDR")
    #expect(script.sent("01 370c 04 4000 0000".dense).value(.hci, "link supervision timeout") == "none")
    let inquiry = script.sent("01 0104 05 338b9e 08 00".dense)
    #expect(inquiry.value(.hci, "LAP") == "general inquiry" && inquiry.value(.hci, "responses") == "no limit")
  }
}
