import ATT
import HaloGATT
import Glibc
import HCI
import HaloBluetoothCore
import HaloCapture
import TestLoop
import TestSupport
import Testing

@testable import HaloRecording

/// Captures of any origin, as connections with ATT traffic.
@BluetoothActor
@Suite(.onTheLoop) struct RecordedTrafficTests {
  let file = TemporaryFile()

  /// Writes H4 packets, each with whether the host sent it, a second after the one before.
  private func write(_ packets: [(sent: Bool, text: String)], first: Int64 = 1_763_733_600_000_000) throws {
    // The writer of the recording before may not have closed its file yet, and another one would be refused.
    unlink(file.path)
    let writer = try CaptureWriter(path: file.path)
    for (index, packet) in packets.enumerated() {
      writer.write(
        hex(packet.text).span.bytes, direction: packet.sent ? .hostToController : .controllerToHost,
        microseconds: first + Int64(index) * 1_000_000)
    }
    writer.waitUntilWritten()
  }

  @Test func aConnectionInFragmentsIsReadFromItsMiddleToItsEnd() throws {
    try write([
      // The end of a frame whose beginning is not in the capture.
      (false, "02 40 10 0300 aabbcc"),
      (true, "02 40 00 0700 0300 0400 0a2200"),
      // A Read Response of 6 bytes in two packets.
      (false, "02 40 20 0600 0600 0400 0b01"), (false, "02 40 10 0400 02030405"),
      (false, "04 05 04 00 4000 08"),
    ])
    let traffic = try RecordedTraffic(path: file.path)
    let connection = try #require(traffic.connections.first)
    #expect(traffic.connections.count == 1 && connection.isServerPeer && connection.peer == nil)
    #expect(connection.pdus.map { Hex.string($0.bytes) } == ["0a2200", "0b0102030405"])
    #expect(connection.pdus.map(\.packet) == [2, 4])
    #expect(connection.reason == .connectionTimeout && connection.loss == .connectionTimeout)
    #expect(connection.end - connection.start == 4_000_000)
  }

  @Test func theServerMayBeTheHostThatWasCaptured() throws {
    try write([
      (false, "02 40 20 0700 0300 0400 0a2200"), (true, "02 40 00 0600 0200 0400 0b5a"),
      (true, "02 40 00 0800 0400 0400 1b22005b"), (false, "04 05 04 00 4000 16"),
    ])
    let connection = try #require(try RecordedTraffic(path: file.path).connections.first)
    #expect(!connection.isServerPeer)
    #expect(connection.pdus.map(\.isFromServer) == [false, true, true])
    // The captured host is the server, and it ended the connection.
    #expect(connection.loss == .remoteUserTerminatedConnection)
  }

  /// The peer of an ESP32 and of a phone is a GATT client, too (whoisbe/pongbot-mcp: a phone answers the requests of a watch
  /// that notifies). A phone indicates Service Changed to any device.
  @Test func doesNotTakePhoneForTheServer() throws {
    try write([
      (false, "02 40 20 0700 0300 0400 0a2200"), (true, "02 40 00 0600 0200 0400 0b5a"),
      (false, "02 40 20 0700 0300 0400 0a2300"), (true, "02 40 00 0600 0200 0400 0b5a"),
      (false, "02 40 20 0800 0400 0400 1b44005b"),
      (true, "02 41 00 0900 0500 0400 1d0a00ffff"), (false, "02 41 20 0700 0300 0400 0a2200"),
    ])
    let connections = try RecordedTraffic(path: file.path).connections
    #expect(connections.map(\.isServerPeer) == [true, true])
  }

  /// Controllers of Qualcomm send debug output as ACL data (captures of scientistnobee/DSD6 and wangdalian/btsnooper).
  @Test func controllerDebugOutputIsNotAConnection() throws {
    try write([
      (false, "02 dc 2e 0800 0400 0400 1b22005b"), (false, "02 40 20 0800 0400 0400 1b22005b"),
    ])
    let connections = try RecordedTraffic(path: file.path).connections
    #expect(connections.map { $0.packets?.lowerBound } == [2])
  }

  @Test func timesOfDamagedFilesDoNotOverflow() throws {
    let writer = try CaptureWriter(path: file.path)
    for (time, text) in [
      (Int64.min / 4, "02 40 00 0700 0300 0400 0a2200"), (.max / 4, "02 40 20 0600 0200 0400 0b5a"),
    ] {
      writer.write(
        hex(text).span.bytes, direction: text.hasPrefix("02 40 00") ? .hostToController : .controllerToHost,
        microseconds: time)
    }
    writer.waitUntilWritten()
    let peripheral = try ReplayedPeripheral(path: file.path)
    #expect(peripheral.dialogues[0].exchanges.count == 1)
    #expect(peripheral.dialogues[0].exchanges[0].responseDelay > 0)
  }

  @Test func reportsMissingConnectionOrTraffic() throws {
    try write([(true, "02 40 00 0700 0300 0400 0a2200"), (false, "02 40 20 0600 0200 0400 0b5a")])
    var options = ReplayedPeripheral.Options()
    options.connection = 2
    #expect(throws: ReplayError.noConnection(["1: unknown peer, packets 1 to 2, 2 ATT PDUs"])) {
      try ReplayedPeripheral(path: file.path, options)
    }
    try write([(true, "01 03 0c 00")])
    #expect(throws: CaptureError(.noAttributeTraffic(of: nil), path: file.path)) {
      try RecordedTraffic(path: file.path)
    }
  }
}
