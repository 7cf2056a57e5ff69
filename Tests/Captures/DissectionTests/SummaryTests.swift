import ATT
import HCI
import HaloBluetoothCore
import HaloCapture
import L2CAP
import RingLink
import TestSupport
import Testing

@testable import HaloDissection

@Suite struct SummaryTests {
  @Test func histogramPercentilesAreWithinSevenPercent() throws {
    var histogram = DurationHistogram()
    #expect(histogram.percentile(0.5) == nil)
    for value in Int64(1)...100_000 { histogram.add(value) }
    histogram.add(-5)
    #expect(histogram.count == 100_000)
    for part in [0.01, 0.5, 0.95, 0.999] {
      let found = try #require(histogram.percentile(part))
      let truth = part * 100_000
      #expect(Double(found) >= truth && Double(found) <= truth * 1.07, "\(part): \(found)")
    }
    #expect(histogram.percentile(1) == 100_000)
    histogram.add(.max)
    #expect(histogram.percentile(1) == .max)
  }

  @Test func summarizesLinkFromConnectToDisconnect() throws {
    let script = Script()
    var summary = CaptureSummary()
    summary.add(script.received(Script.connected))
    summary.add(script.att("020502", isSent: true))
    summary.add(script.att("03f700", isSent: false))
    summary.add(script.att("0a0300", isSent: true))
    summary.add(script.att("01 0a 0300 05".dense, isSent: false))
    for _ in 0..<3 { summary.add(script.att("1b120041", isSent: false)) }
    summary.add(script.received("04 3e 0a 03 00 4000 2800 0400 f401".dense))
    summary.add(script.att("0a0500", isSent: true))
    summary.add(script.received(Script.disconnected))
    let link = try #require(summary.connections.first)
    #expect(summary.connections.count == 1)
    #expect(link.peer?.description == "30:35:38:41:BE:EF")
    #expect(link.mtu == 247)
    #expect(link.reason == .remoteUserTerminatedConnection)
    #expect((link.start, link.end) == (1000, 11_000))
    #expect(
      link.changes.map(\.words) == [
        "interval 30 ms, latency 0, timeout 720 ms", "interval 50 ms, latency 4, timeout 5000 ms",
      ])
    #expect(summary.procedure(.readValue)?.requests == 2)
    #expect(summary.procedure(.readValue)?.errors == 1)
    #expect(summary.procedure(.exchangeMTU)?.roundTrips.percentile(0.5) == 1000)
    let source = CaptureSummary.Source(peer: "30:35:38:41:BE:EF", handle: 0x12)
    #expect(summary.values[source]?.statistics.count == 3)
    #expect(summary.errors["requests that were never answered"] == 1)
    #expect(summary.errors["Read Request: Insufficient Authentication (0x05)"] == 1)
  }

  /// What the host notifies is not what the peer does, which may have the same handle.
  @Test func countsSentAndReceivedValuesSeparately() {
    let script = Script()
    var summary = CaptureSummary()
    summary.add(script.received(Script.connected))
    summary.add(script.att("1b120041", isSent: true))
    summary.add(script.att("1b12004142", isSent: false))
    let received = CaptureSummary.Source(peer: "30:35:38:41:BE:EF", handle: 0x12)
    let sent = CaptureSummary.Source(peer: "30:35:38:41:BE:EF", handle: 0x12, isSent: true)
    #expect(summary.values[received]?.bytes == 2 && summary.values[sent]?.bytes == 1)
  }

  /// A ring that is connected to again an hour later has not paused for an hour.
  @Test func excludesTimeBetweenConnectionsFromIntervals() throws {
    let script = Script()
    var summary = CaptureSummary()
    for _ in 0..<2 {
      summary.add(script.received(Script.connected))
      for _ in 0..<3 { summary.add(script.att("1b120041", isSent: false)) }
      summary.add(script.received(Script.disconnected))
      script.pause(seconds: 3600)
    }
    let source = CaptureSummary.Source(peer: "30:35:38:41:BE:EF", handle: 0x12)
    let statistics = try #require(summary.values[source]?.statistics)
    #expect(statistics.count == 6)
    #expect(statistics.longestInterval == 1_000_000)
    #expect(statistics.gaps == 0)
    #expect(statistics.rate == 1000)
  }

  @Test func linksOfBREDRHaveTheirPeerAndProtocols() throws {
    let script = Script()
    var summary = CaptureSummary()
    summary.add(script.received("04 07 0a 00 efbe41383530 523033".dense))
    summary.add(script.received("04 03 0b 00 4000 efbe41383530 01 00"))
    summary.add(script.frame("02 01 0400 0100 4100", channel: 1, isSent: true))
    summary.add(script.frame("03 01 0800 5000 4100 0000 0000", channel: 1, isSent: false))
    summary.add(script.frame("01 0002 0002 0003", channel: 0x41, isSent: false))
    summary.add(script.received("04 2c 11 00 4100 efbe41383530 02 0c 04 3c00 3c00 02".dense))
    summary.add(script.received(Script.disconnected))
    #expect(summary.connections.count == 2)
    let link = try #require(summary.connections.first)
    #expect(link.peer?.description == "30:35:38:41:BE:EF" && link.name == "R03")
    #expect(link.classicType == .acl && link.frames == [.sdp: 1])
    #expect(link.reason == .remoteUserTerminatedConnection)
    #expect(summary.connections[1].classicType?.description == "eSCO")
  }

  @Test func lostPacketsAreCounted() {
    let script = Script()
    var summary = CaptureSummary()
    var packet = script.received(Script.connected)
    packet.info.drops = 3
    summary.add(packet)
    summary.add(packet)
    #expect(summary.lost == 6)
  }

  @Test func countsNonPacketRecordsByKind() {
    let script = Script()
    var summary = CaptureSummary()
    for content in [.monitor(.userLogging), .monitor(.userLogging), .monitor(.openIndex), .foreign(.h4)]
      as [CaptureContent]
    {
      var packet = script.received(Script.connected)
      packet.info.content = content
      packet.hci = nil
      summary.add(packet)
    }
    #expect(
      summary.kinds == ["texts of programs": 2, "records of adapters": 1, "records of link type 187 (H4)": 1])
    for type in UInt16(0)..<2000 {
      var packet = script.received(Script.connected)
      packet.info.content = .foreign(CaptureLinkType(rawValue: type))
      packet.hci = nil
      summary.add(packet)
    }
    #expect(summary.kinds.count == CaptureSummary.capacity + 1)
  }

  @Test func aRingsFramesAreCountedByName() {
    let script = Script()
    var summary = CaptureSummary()
    let sample = RawSample.ppg(OpticalSample(raw: 1, max: 2, min: 1, diff: 1, isValid: true)).frame
    for frame in [sample, sample, RingFrame(0x03, 67), RingFrame(0x86, 0xEE)] {
      summary.add(script.att("1b1200" + Hex.string(frame.bytes), isSent: false))
    }
    #expect(summary.ringFrames["samples of PPG"] == 2)
    #expect(summary.ringFrames["battery, from the ring"] == 1)
    #expect(summary.ringFrames.values.reduce(0, +) == 4)
  }

  @Test func boundsTablesAndCountsOverflow() {
    let script = Script()
    var summary = CaptureSummary()
    for number in UInt16(0)..<2000 {
      var writer = ByteWriter()
      writer.write(number)
      summary.add(
        script.received("04 3e 0c 02 01 00 01 \(Hex.string(writer.bytes)) 00000000 00 c8".dense))
      summary.add(script.att("1b\(Hex.string(writer.bytes))", isSent: false))
    }
    #expect(summary.devices.count == CaptureSummary.capacity)
    #expect(summary.values.count == CaptureSummary.capacity)
    #expect(summary.overflow == 2 * (2000 - CaptureSummary.capacity))
  }
}
