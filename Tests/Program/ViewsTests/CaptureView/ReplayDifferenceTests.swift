import Glibc
import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing
@testable import HaloRecording

@testable import HCI
@testable import HaloViews

/// What is told when a replay differs: which packet, what it is, what was sent instead, and why.
@Suite struct ReplayDifferenceTests {
  private static let reset = "01030c00"
  private static let resetDone = "040e0401030c00"
  /// LE Set Scan Enable with and without a filter for duplicates.
  private static let scan = "010c20020100"
  private static let filteredScan = "010c20020101"

  /// Makes a capture of packets, each after "> " or "< ".
  private func message(
    _ packets: [String], number: Int?, sent: String?,
    _ change: (inout ReplayTransport.Report) -> Void = { _ in }
  ) throws -> String {
    var template = Array("/tmp/halo-difference-XXXXXX".utf8CString)
    close(mkstemp(&template))
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }
    let writer = try CaptureWriter(path: path)
    for (index, packet) in packets.enumerated() {
      writer.write(
        hex(String(packet.dropFirst(2))).span.bytes,
        direction: packet.hasPrefix(">") ? .hostToController : .controllerToHost,
        microseconds: Int64(index + 1))
    }
    writer.waitUntilWritten()
    var report = ReplayTransport.Report()
    report.differences = 1
    report.firstDifference = .init(
      number: number, recorded: number.map { hex(String(packets[$0 - 1].dropFirst(2))) },
      sent: sent.map { hex($0) })
    change(&report)
    let options = ReplayTransport.Options()
    let difference = ReplayDifference(path, 1, try RecordedHost(path: path, options), report)
    return try #require(difference).message.replacing(path, with: "FILE")
  }

  @Test func anotherHostsOrderIsNamed() throws {
    #expect(
      try message(
        ["> " + Self.reset, "< " + Self.resetDone, "> 01051000"], number: 3, sent: "01011000")
        == "the replay differs from the recording: packet 3 of FILE is Read Buffer Size, and halo-raw sent Read Local "
        + "Version Information - the recording is of another host, which sends its commands in another order"
    )
  }

  /// Two commands with one name differ in a field.
  @Test func theFieldThatDiffersIsNamed() throws {
    let text = try message(["> " + Self.reset, "> " + Self.scan], number: 2, sent: Self.filteredScan) {
      $0.matched = 40
      $0.differences = 3
    }
    #expect(text.contains("in 3 packets, first here: packet 2 of FILE is LE Set Scan Enable"))
    #expect(text.contains("the 40 packets before it are equal: the recording is of another command"))
    #expect(text.contains("no") && text.contains("yes"))
  }

  @Test func missingAndExtraPacketsAreReported() throws {
    let missing = try message(["> " + Self.reset, "> " + Self.scan], number: 2, sent: nil)
    #expect(missing.contains("packet 2 of FILE is LE Set Scan Enable") && missing.contains("did not send it"))
    let more = try message(["> " + Self.reset], number: nil, sent: "01011000")
    #expect(
      more.contains("at the end of FILE, halo-raw sent one more packet, Read Local Version Information"))
  }

  @Test func theReasonIsThatOfTheCapture() throws {
    let data = "> 0240000700030004000a0100"
    #expect(
      try message([data], number: 1, sent: Self.reset).contains(
        "begins mid-connection: packet 1 has data of a link that was set up before it"))
    #expect(try message([data], number: 1, sent: Self.reset).contains("Read Request"))
    let running = try message(["> 01051000", "> " + Self.reset], number: 1, sent: Self.reset)
    #expect(running.contains("begins after the setup of its host"))
    #expect(running.hasSuffix("; packet 2 is a Reset: try replay --from 2 FILE"))
    let note = "< " + Hex.string(CaptureNote.packet("zone utc-offset=0"))
    let kernel = try message([note, "> 01011000", "> 010d2000"], number: 2, sent: Self.reset)
    #expect(
      kernel.contains("made with --adapter hciN and holds the commands of the kernel")
        && kernel.contains("LE Create Connection (0x200d)"))
    let silent = try message(["< " + Self.resetDone], number: nil, sent: Self.reset)
    #expect(silent.contains("the capture has no commands of a host"))
    let cut = try message(["> " + Self.reset, "> 01051000"], number: 2, sent: "01011000") { $0.firstCut = 17 }
    #expect(cut.contains("only a part of packet 17"))
  }
}
