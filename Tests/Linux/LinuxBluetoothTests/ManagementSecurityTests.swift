import HCI
import HaloBluetoothCore
import HaloSecurityManager
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// The commands and events of pairing (BlueZ, doc/mgmt-api.txt).
@Suite struct ManagementSecurityTests {
  private let hci0 = AdapterIndex(rawValue: 0)
  private let peer = BluetoothAddress(0xC011_2233_A1B2, .random)
  private let key = "000102030405060708090a0b0c0d0e0f"

  private func bytes<Response>(_ command: ManagementCommand<Response>) -> String {
    var writer = ByteWriter()
    ManagementPacket(command, to: hci0).write(into: &writer)
    return Hex.string(writer.bytes)
  }

  private func event(_ code: UInt16, _ parameters: String) throws -> ManagementEvent {
    try ManagementEvent(ManagementPacket(code: code, index: hci0, parameters: hex(parameters)))
  }

  @Test func settingsHaveOneByte() {
    #expect(bytes(.setBondable(true)) == "090000000100" + "01")
    #expect(bytes(.setSecureSimplePairing(true)) == "0b0000000100" + "01")
    #expect(bytes(.setLowEnergy(true)) == "0d0000000100" + "01")
    #expect(bytes(.setSecureConnections(.only)) == "2d0000000100" + "02")
    #expect(bytes(.setIOCapability(.keyboardDisplay)) == "180000000100" + "04")
  }

  @Test func answersNameThePeer() {
    let address = "b2a1332211c0" + "02"
    #expect(bytes(.replyToConfirmation(of: peer, isConfirmed: true)) == "1c0000000700" + address)
    #expect(bytes(.replyToConfirmation(of: peer, isConfirmed: false)) == "1d0000000700" + address)
    #expect(bytes(.replyToPasskeyRequest(of: peer, 123_456)) == "1e0000000b00" + address + "40e20100")
    #expect(bytes(.replyToPasskeyRequest(of: peer, nil)) == "1f0000000700" + address)
    #expect(bytes(.unpair(peer)) == "1b0000000800" + address + "00")
  }

  @Test func keysAreLoadedAllAtOnce() {
    let ours = LongTermKey(
      hex(key), random: 0x0102_0304_0506_0708, diversifier: 0xABCD, isAuthenticated: true)
    let loaded = ManagementLongTermKey(ours, of: peer, isSecureConnections: false, isForCentral: true)
    let parameters = "b2a1332211c0" + "02" + "01" + "01" + "10" + "cdab" + "0807060504030201" + key
    #expect(bytes(.loadLongTermKeys([loaded])) == "130000002600" + "0100" + parameters)
    #expect(bytes(.loadLongTermKeys([])) == "130000000200" + "0000")
    let identity = ManagementIdentityKey(identity: BluetoothAddress(1, .public), key: hex(key))
    #expect(bytes(.loadIdentityKeys([identity])) == "300000001900" + "0100" + "010000000000" + "01" + key)
    // The length of a packet has two bytes.
    let many = bytes(.loadLongTermKeys([ManagementLongTermKey](repeating: loaded, count: 2000)))
    #expect(many.hasPrefix("13000000" + "a28c" + "e803") && many.count == 2 * (6 + 2 + 36 * 1000))
  }

  @Test func newKeys() throws {
    let parameters = "b2a1332211c0" + "02" + "03" + "00" + "10" + "0000" + "0000000000000000" + key
    let expected = ManagementLongTermKey(
      LongTermKey(hex(key), isAuthenticated: true), of: peer, isSecureConnections: true, isForCentral: false)
    #expect(try event(0x0A, "01" + parameters) == .security(.longTermKey(expected, isKept: true)))
    #expect(try event(0x0A, "00" + parameters) == .security(.longTermKey(expected, isKept: false)))
    let resolvable = BluetoothAddress(0x4011_2233_A1B2, .random)
    let identity = ManagementIdentityKey(identity: BluetoothAddress(0xC011_2233_A1B2, .public), key: hex(key))
    #expect(
      try event(0x18, "01" + "b2a133221140" + "b2a1332211c0" + "01" + key)
        == .security(.identityKey(identity, at: resolvable, isKept: true)))
    #expect(
      try event(0x19, "01" + "b2a1332211c0" + "02" + "03" + key)
        == .security(.signatureKey(hex(key), of: peer, isPeers: true, isKept: true)))
  }

  @Test func questions() throws {
    let address = "b2a1332211c0" + "02"
    #expect(try event(0x0F, address + "00" + "40e20100") == .security(.confirmation(peer, 123_456)))
    // The kernel hands a number in for Just Works, too, which nobody is to see.
    #expect(try event(0x0F, address + "01" + "40e20100") == .security(.confirmation(peer, nil)))
    #expect(try event(0x10, address) == .security(.passkeyRequest(peer)))
    #expect(
      try event(0x17, address + "40e20100" + "02") == .security(.passkeyShown(peer, 123_456, entered: 2)))
    #expect(
      try event(0x11, address + "05") == .security(.failed(peer, ManagementStatus(rawValue: 5))))
  }

  /// Each event with every length below its own, with an address that is not of LE, and with a key of an impossible size.
  @Test func whatIsCutOrWrongIsRefused() throws {
    let address = "b2a1332211c0" + "02"
    let keyParameters = address + "02" + "00" + "10" + "0000" + "0000000000000000" + key
    let whole: [(UInt16, String)] = [
      (0x0A, "01" + keyParameters), (0x0F, address + "0040e20100"), (0x10, address), (0x11, address + "05"),
      (0x17, address + "40e2010000"), (0x18, "01" + "b2a133221140" + address + key),
      (0x19, "01" + address + "00" + key),
    ]
    for (code, parameters) in whole {
      #expect(throws: Never.self) { try event(code, parameters) }
      for length in 0..<parameters.count / 2 {
        #expect(throws: DecodeError.self) { try event(code, String(parameters.prefix(2 * length))) }
      }
      for type in ["00", "03", "ff"] {
        let wrong = parameters.replacing("b2a1332211c0" + "02", with: "b2a1332211c0" + type)
        #expect(throws: DecodeError.self) { try event(code, wrong) }
      }
    }
    for size in ["00", "06", "11", "ff"] {
      let wrong = "01" + address + "02" + "00" + size + "0000" + "0000000000000000" + key
      #expect(throws: DecodeError.self) { try event(0x0A, wrong) }
    }
  }
}
