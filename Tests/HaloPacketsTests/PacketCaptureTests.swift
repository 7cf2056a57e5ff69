import HaloPackets
import TestSupport
import Testing

/// What a program learns of packets.
@Suite struct PacketCaptureTests {
  private static let captures =
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/captures/"

  @Test func aCaptureIsReadToItsEnd() throws {
    let capture = try PacketCapture(path: Self.captures + "virtual-battery.btsnoop")
    var packets: [CapturedPacket] = []
    while let packet = try capture.next() { packets.append(packet) }
    #expect(packets.map(\.number) == Array(1...packets.count))
    let reset = try #require(packets.first { $0.summary.hasPrefix("Reset") })
    #expect(reset.isReceived == false)
    #expect(reset.bytes == [0x01, 0x03, 0x0C, 0x00])
    let connected = try #require(packets.first { $0.summary.contains("Connection Complete") })
    #expect(connected.layers.map(\.name) == ["hci"])
    let fields = connected.layers[0].fields
    #expect(fields.contains { $0.name == "connection handle" && $0.value.contains("0x0040") })
    #expect(fields.allSatisfy { $0.range.upperBound <= connected.bytes.count })
    #expect(packets.contains { $0.layers.last?.name == "ring" })
    #expect(throws: (any Error).self) { try PacketCapture(path: Self.captures + "README.md") }
  }

  /// What docs/library.md shows.
  private func show() throws {
    let capture = try PacketCapture(path: "session.btsnoop")
    while let packet = try capture.next() { print(packet.number, packet.summary) }
  }

  @Test func reportsMissingCaptureFile() {
    let error = #expect(throws: (any Error).self) { try show() }
    #expect(error.map { "\($0)" }?.contains("session.btsnoop") == true)
  }

  @Test func theLaterPacketsAreExplainedByTheEarlierOnes() {
    let explainer = PacketExplainer()
    // A request for the battery level by its type, and the answer.
    _ = explainer.explain(hex("02 4000 0b00 0700 0400 08 0100 ffff 192a"), isReceived: false)
    let answer = explainer.explain(hex("02 4020 0900 0500 0400 09 03 1800 51"), isReceived: true)
    #expect(answer.layers.map(\.name).contains("att"))
    #expect(answer.summary.contains("81 percent"))
    #expect(explainer.explain([], isReceived: true).layers.last?.name != "att")
  }
}
