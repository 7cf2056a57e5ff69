import Glibc
import HCI
import HaloBluetoothCore
import HaloSecurityManager
import HaloStorage
import HaloSystem
import TestSupport
import Testing

@Suite struct BluetoothdBondTests {
  private static let own = BluetoothAddress(0x8C68_AB80_5FF6, .public)
  private static let device = BluetoothAddress(0xDA2A_CEFD_F80B, .random)

  private func imported(_ text: String, of peer: BluetoothAddress = device) -> Bond? {
    Bond(bluetoothd: text.utf8, peer: peer, own: Self.own)
  }

  // MARK: Files of bluetoothd

  /// A mouse with LE legacy pairing, of Fedora 26 (super-unix.com, a copy of the question "Dual Boot Bluetooth LE (low
  /// energy) device pairing"). This side is the central, and has no key as the peripheral.
  private static let mouse = """
    [General]
    Name=Designer Mouse
    Appearance=0x03c2
    AddressType=static
    SupportedTechnologies=LE;
    Trusted=true
    Blocked=false
    Services=00001800-0000-1000-8000-00805f9b34fb;00001801-0000-1000-8000-00805f9b34fb;

    [IdentityResolvingKey]
    Key=D8F3A0A146FEB991BF2ECD9756C8BDFA

    [LocalSignatureKey]
    Key=23AB7AF05C5AC930F9322CF44114856B
    Counter=0
    Authenticated=false

    [LongTermKey]
    Key=D2681BEA8B2C177B1AB8786F22C89DBB
    Authenticated=0
    EncSize=16
    EDiv=48309
    Rand=10283782112900107958

    [DeviceID]
    Source=2
    Vendor=1118

    [ConnectionParameters]
    MinInterval=6
    """

  @Test func aMouseWithLegacyPairing() throws {
    let bond = try #require(imported(Self.mouse))
    #expect(bond.peer == Self.device && bond.own == Self.own && bond.name == "Designer Mouse")
    #expect(!bond.isSecureConnections)
    // The bytes are in the order of the file, which is that of the wire.
    #expect(
      bond.keyAsCentral
        == LongTermKey(
          hex("D2681BEA8B2C177B1AB8786F22C89DBB"), random: 10_283_782_112_900_107_958, diversifier: 48309))
    #expect(bond.keyAsPeripheral == nil)
    #expect(bond.identityResolvingKey == hex("D8F3A0A146FEB991BF2ECD9756C8BDFA"))
    #expect(bond.ownSigning == Bond.SigningKey(key: hex("23AB7AF05C5AC930F9322CF44114856B"), counter: 0))
    #expect(bond.peerSigning == nil)
    #expect(
      bond.strength == PairingStrength(isAuthenticated: false, isSecureConnections: false, keySize: 16))
  }

  /// A touchpad with Secure Connections, of BlueZ 5.63 or later: a file in a NixOS configuration, for two operating systems
  /// with one pairing. Its one key is that of both roles.
  @Test func aTouchpadWithSecureConnections() throws {
    let text = """
      [General]
      Name=ProtoArc T1 Plus
      AddressType=static
      SupportedTechnologies=LE;
      CablePairing=false

      [PeripheralLongTermKey]
      Key=BEE4256F797B6991A531B1E52B55AEB1
      Authenticated=2
      EncSize=16
      EDiv=0
      Rand=0

      [SlaveLongTermKey]
      Key=BEE4256F797B6991A531B1E52B55AEB1
      Authenticated=2
      EncSize=16
      EDiv=0
      Rand=0
      """
    let bond = try #require(imported(text))
    #expect(bond.isSecureConnections && bond.identityResolvingKey == nil)
    #expect(bond.keyAsCentral == LongTermKey(hex("BEE4256F797B6991A531B1E52B55AEB1")))
    #expect(bond.keyAsPeripheral == bond.keyAsCentral)
    #expect(bond.strength == PairingStrength(isAuthenticated: false, isSecureConnections: true, keySize: 16))
    #expect(
      imported(text.replacing("Authenticated=2", with: "Authenticated=3"))?.strength.isAuthenticated == true)
    // A key of the debug key pair is known to everybody.
    #expect(imported(text.replacing("Authenticated=2", with: "Authenticated=4")) == nil)
  }

  /// A blood pressure meter with a public address, and keys of both roles: a report of a user whose meter is paired with,
  /// and sends nothing.
  @Test func aMeterWithKeysOfBothRoles() throws {
    let text = """
      [General]
      Name=BLESmart_0000021FEC21E5F081C7
      AddressType=public
      SupportedTechnologies=LE;

      [IdentityResolvingKey]
      Key=1767A79A37E3DB5897ADEDA275157730

      [LongTermKey]
      Key=3A75C66423E740B1A9BCD220DBBC9BA3
      Authenticated=0
      EncSize=16
      EDiv=51131
      Rand=1639348934062904132

      [SlaveLongTermKey]
      Key=B39C1351E3E2A6C0658D31E08D789A98
      Authenticated=0
      EncSize=16
      EDiv=36670
      Rand=11762431942953384779
      """
    let bond = try #require(imported(text, of: BluetoothAddress(0xEC21_E5F0_81C7, .random)))
    #expect(bond.peer == BluetoothAddress(0xEC21_E5F0_81C7, .public))
    #expect(bond.keyAsCentral?.diversifier == 51131 && bond.keyAsPeripheral?.diversifier == 36670)
    #expect(bond.keyAsPeripheral?.value == hex("B39C1351E3E2A6C0658D31E08D789A98"))
    #expect(bond.keyAsPeripheral?.random == 11_762_431_942_953_384_779)
  }

  // MARK: Rules of BlueZ

  private static func file(_ group: String, address type: String = "static", _ lines: [String: String])
    -> String
  {
    var values = [
      "Key": "000102030405060708090A0B0C0D0E0F", "Authenticated": "0", "EncSize": "16", "EDiv": "1",
      "Rand": "2",
    ]
    values.merge(lines) { $1 }
    return "[General]\nAddressType=\(type)\n[\(group)]\n" + values.map { "\($0)=\($1)\n" }.joined()
  }

  @Test func theNewNameOfAGroupCountsMore() {
    let both =
      Self.file("PeripheralLongTermKey", ["EDiv": "7"]) + Self.file("SlaveLongTermKey", ["EDiv": "8"])
    #expect(imported(both)?.keyAsPeripheral?.diversifier == 7)
    let broken =
      Self.file("PeripheralLongTermKey", ["Key": "00"]) + Self.file("SlaveLongTermKey", ["EDiv": "8"])
    #expect(imported(broken)?.keyAsPeripheral?.diversifier == 8)
  }

  /// get_ltk(): old versions wrote the bytes of both.
  @Test func numbersOfOldVersionsAreBytes() {
    let text = Self.file(
      "LongTermKey",
      ["Key": "0x000102030405060708090A0B0C0D0E0F", "Rand": "0x0100000000000080", "EncSize": "7"])
    let key = imported(text)?.keyAsCentral
    #expect(key?.random == 0x8000_0000_0000_0001 && key?.value == Array(0..<16) && key?.size == 7)
  }

  /// Old versions stored keys of addresses that change.
  @Test func aDeviceWithoutAnAddressThatStaysIsNotBonded() {
    let text = Self.file("LongTermKey", [:])
    #expect(imported(text) != nil)
    #expect(imported(text, of: BluetoothAddress(0x5A2A_CEFD_F80B, .random)) == nil)
    #expect(
      imported(Self.file("LongTermKey", address: "public", [:]), of: BluetoothAddress(1, .public)) != nil)
    #expect(imported(Self.file("LongTermKey", address: "random", [:])) == nil)
  }

  /// remote_counter() of src/device.c keeps the last counter that it has taken.
  @Test(
    arguments: [("0", 0), ("41", 42), ("4294967295", 4_294_967_295), ("x", 0), ("-1", 0)]
      as [(String, UInt32)])
  func theNextSignatureHasAHigherCounter(_ stored: String, _ next: UInt32) {
    let signing = "\n[RemoteSignatureKey]\nKey=000102030405060708090A0B0C0D0E0F\nCounter=\(stored)\n"
    #expect(imported(Self.file("LongTermKey", [:]) + signing)?.peerSigning?.counter == next)
  }

  @Test func namesAreReadAsGLibWritesThem() {
    func name(_ text: String) -> String? {
      imported(Self.file("LongTermKey", [:]) + "\n[General]\nName=\(text)\n")?.name
    }
    #expect(name("\\sTwo\\tWörds\\\\") == " Two\tWörds\\")
    #expect(name("  a = b  ") == "a = b")
    #expect(name("") == "")
    #expect(imported(Self.file("LongTermKey", [:]) + "\n[General]\nName=a\nAlias=b\n")?.name == "b")
    #expect(
      imported(Self.file("LongTermKey", [:]).replacing("\n", with: "\r\n"))?.keyAsCentral?.diversifier == 1)
  }

  @Test(arguments: [
    ["Key": ""], ["Key": "000102030405060708090A0B0C0D0E"], ["Key": "000102030405060708090A0B0C0D0E0F10"],
    ["Key": "zz0102030405060708090A0B0C0D0E0F"], ["EncSize": "6"], ["EncSize": "17"], ["EncSize": "-1"],
    ["EncSize": "99999999999999999999"], ["EDiv": "65536"], ["EDiv": "-1"], ["Rand": "18446744073709551616"],
    ["Rand": ""], ["Rand": "0x01"], ["Authenticated": "5"], ["Authenticated": "-1"],
  ]) func aKeyOutOfRangeIsNoKey(_ lines: [String: String]) {
    #expect(imported(Self.file("LongTermKey", lines)) == nil)
  }

  /// Whatever is in the file: what comes out can be stored.
  @Test func damagedFilesGiveNothingOrABondThatCanBeStored() throws {
    var generator = SeededGenerator(seed: 80)
    let good = Array(Self.mouse.utf8)
    var found = 0
    for _ in 0..<2000 {
      var text = good
      for _ in 0..<Int.random(in: 1...12, using: &generator) {
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
          text[Int.random(in: text.indices, using: &generator)] = UInt8.random(
            in: 0 ... .max, using: &generator)
        case 1: text.removeSubrange(..<Int.random(in: 0..<text.count / 8, using: &generator))
        default:
          let place = Int.random(in: 0..<text.count - 40, using: &generator)
          text.insert(
            contentsOf: text[place..<place + 40], at: Int.random(in: text.indices, using: &generator))
        }
      }
      guard var bond = Bond(bluetoothd: text, peer: Self.device, own: Self.own) else { continue }
      found += 1
      bond.name = nil
      #expect(try Bond(bond.json) == bond)
    }
    #expect(found > 100 && found < 2000)
  }

  // MARK: The folder

  @Test func theFolderHasDevicesOfAllAdapters() throws {
    let folder = try Folder()
    defer { folder.remove() }
    folder.write("8C:68:AB:80:5F:F6/DA:2A:CE:FD:F8:0B/info", Self.mouse)
    folder.write("static-C1:02:03:04:05:06/DA:2A:CE:FD:F8:0B/info", Self.mouse)
    folder.write("8C:68:AB:80:5F:F6/00:11:22:33:44:55/info", "[LinkKey]\nKey=00\n")
    folder.write("8C:68:AB:80:5F:F6/00:11:22:33:44:56/attributes", "")
    folder.write("8C:68:AB:80:5F:F6/cache/DA:2A:CE:FD:F8:0C", Self.mouse)
    folder.write("8C:68:AB:80:5F:F6/settings", "[General]\n")
    folder.write("8C:68:AB:80:5F:F6/00:11:22:33:44:57/info", String(repeating: "#", count: 100_000))
    folder.write("addresses", "[Static]\n")
    folder.write("00:00:00:00:00:01", "a file with the name of an adapter")
    let found = try BluetoothdFolder.read(folder.path)
    #expect(
      found.bonds.map(\.own) == [Self.own, BluetoothAddress(0xC102_0304_0506, .random)])
    #expect(found.bonds.allSatisfy { $0.peer == Self.device && $0.keyAsCentral != nil })
    #expect(found.others == 1)
    #expect(found.unreadable.count == 2 && found.unreadable.allSatisfy { $0.path.hasPrefix(folder.path) })
    let error = #expect(throws: FileError.self) { try BluetoothdFolder.read(folder.path + "/nowhere") }
    #expect(error?.isMissing == true)
  }
}
