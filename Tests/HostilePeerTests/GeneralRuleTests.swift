import ATT
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import L2CAP
import TestLoop
import TestSupport
import Testing

/// What holds for every layer at once.
@BluetoothActor
@Suite(.onTheLoop) struct GeneralRuleTests {
  /// A claimed length against the size of what is there, at each layer: one byte less, one more, none, the most.
  @Test(arguments: [
    "04 13 04 01 40 00 01", "04 13 06 01 40 00 01 00", "04 13 ff 01 40 00 01 00",
    "02 40 20 07 00 03 00 04 00 1b 12 00",
    "02 40 20 09 00 03 00 04 00 1b 12 00", "02 40 20 ff ff 03 00 04 00 1b 12 00", "02 40 20 00 00",
    "02 40 20 07 00",
    "02 40 20 07 00 04 00 04 00 1b 12 00", "02 40 20 07 00 02 00 04 00 1b 12 00",
    "02 40 20 07 00 ff ff 04 00 1b 12 00",
    "02 40 20 06 00 02 00 04 00 09 07", "02 40 20 06 00 02 00 04 00 09 ff",
    "02 40 20 0a 00 06 00 05 00 12 01 09 00 01 02",
  ]) func everyLayerComparesItsLengthWithWhatIsThere(_ packet: String) async throws {
    let (stage, connection) = try await Stage.connected()
    #expect(stage.peer.handle == 0x40)
    stage.radio.deliver(hex(packet))
    await stage.sleep(.milliseconds(10))
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Handles and offsets at the ends of their range: nothing traps by adding one or taking one away.
  @Test func handlesHandleRangeLimitsWithoutCrashing() async throws {
    let peer = Peer()
    peer.server.addService(uuid(0x1812), at: 0xFFFC)
    peer.server.addCharacteristic(uuid(0x2A4D), [.read, .notify], at: 0xFFFD, [1])
    peer.server.addConfiguration(at: 0xFFFF)
    let (stage, connection) = try await Stage.connected(peer)
    let services = try await connection.gatt.discoverServices()
    #expect(services.last?.handles == HandleRange(0xFFFC, 0xFFFF))
    let last = try #require(services.last)
    let characteristic = try #require(try await connection.gatt.discoverCharacteristics(of: last).first)
    _ = try await connection.gatt.subscribe(to: characteristic) { _, _ in }
    for handle in [0x0000, 0x0001, 0xFFFE, 0xFFFF] as [AttributeHandle] {
      _ = try? await connection.gatt.read(handle)
      _ = try? await connection.gatt.write([1], to: handle)
      stage.peer.notify(handle, [1])
      stage.peer.send(ATTHandleValueIndication(handle, value: [1]))
    }
    for range in ["0000 0000", "0000 ffff", "ffff ffff", "ffff 0000", "fdff ffff"] {
      await stage.sleep(.seconds(1))
      stage.peer.send(hex("1d 0600" + range))
    }
    await stage.sleep(.seconds(5))
    #expect(connection.isConnected)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Names from the air are printed with nothing that a terminal obeys.
  @Test func textFromAPeerIsNeverRaw() async throws {
    let bytes = Array(0...255 as ClosedRange<UInt8>)
    let text = String(printable: bytes)
    #expect(
      text.unicodeScalars.allSatisfy { scalar in
        scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
          && ![0x2028, 0x2029, 0x202E, 0x2066, 0xFEFF].contains(scalar.value)
      })
    // Errors quote no bytes of the peer as text.
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { _ in .pdus([[0x11, 0x08, 1, 0, 2, 0, 0x1B, 0x5B, 0x32, 0x4A]]) }
    let error = await failure { () async throws(StackError) in try await connection.gatt.discoverServices() }
    #expect(error.map { "\($0)".utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } } == true)
    stage.peer.react = { _ in .honest }
    await connection.disconnect()
    try await stage.checkHealth()
  }
}
