import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloDissection

/// The command of docs/adding.md: this declaration is all of it.
private struct LETransmitterTest: HCICompletingCommand {
  static let info = HCICommandInfo(0x201E, "LE Transmitter Test", "7.8.29", octet: 28, bit: 5)

  var channel: UInt8 = 0
  var length: UInt8 = 0
  var payload: UInt8 = 0

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("TX channel", &channel)
    try fields.value("data length", &length, .unit("bytes"))
    try fields.value("packet payload", &payload, .names([0: "PRBS9", 1: "11110000"]))
  }
}

@Suite struct DeclaredCommandTests {
  private let command = LETransmitterTest {
    $0.channel = 19
    $0.length = 37
    $0.payload = 1
  }

  @Test func declaredCommandRoundTrips() throws {
    var writer = ByteWriter()
    command.packet(into: &writer)
    #expect(writer.bytes == hex("01 1e20 03 13 25 01".dense))
    let packet = try CommandPacket(writer.span.extracting(1..<writer.count))
    #expect(try packet.decode(LETransmitterTest.self) == command)
  }

  @Test func dissectsDeclaredCommand() {
    let packet = Script().sent("01 1e20 03 13 25 01")
    let catalog = HCICommandCatalog([LETransmitterTest.self])
    #expect(
      packet.summary(of: .hci, commands: catalog)
        == "LE Transmitter Test: TX channel 19, data length 37 bytes, packet payload 11110000")
    let field = packet.fields(of: .hci, commands: catalog).first { $0.name == "data length" }
    #expect(field?.range == 5..<6)
    #expect(field?.reference == "Vol 4, Part E, 7.8.29")
    // Without the declaration, the parameters are bytes.
    #expect(packet.value(.hci, "parameters") == "13 25 01")
  }

  @Test func setsSupportedCommandsBitOfDeclaredCommand() {
    let supported = SupportedCommands([LETransmitterTest.self])
    #expect(supported.contains(LETransmitterTest.self))
    #expect(supported.bytes[28] == 1 << 5)
  }
}
