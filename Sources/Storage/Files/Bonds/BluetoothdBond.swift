import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// What bluetoothd has stored of a pairing: a file of groups with a name and a value a line, which BlueZ's
/// doc/settings-storage.txt lists, and whose values store_ltk_group() and get_ltk() of its src/adapter.c write and read.
///
/// A key is written as the kernel has it, so the least significant byte is the first, as on the wire. The group LongTermKey
/// has the one that this side uses as the central, PeripheralLongTermKey (SlaveLongTermKey before BlueZ 5.63, and still
/// beside it) the one as the peripheral. The only key of LE Secure Connections is in the latter, as the kernel reports it so.
extension Bond {
  /// - Parameters:
  ///   - text: the contents of a file with the name `info`; it may be anything
  ///   - peer: the address of the device, by which its folder is named
  ///   - own: the address of the adapter, by which the folder above is named
  /// - Returns: nil if it has no key for Bluetooth LE, or the device no address that stays
  package init?(bluetoothd text: some Collection<UInt8>, peer: BluetoothAddress, own: BluetoothAddress) {
    let file = SettingsFile(text)
    let kind: BluetoothAddress.Kind
    switch file["General", "AddressType"] {
    case "static": kind = .random
    // A device with both BR/EDR and LE, of which an old version has written the first only.
    case "public", nil: kind = .public
    default: return nil
    }
    guard BluetoothAddress(peer.value, kind).isIdentity else { return nil }
    let asCentral = file.longTermKey("LongTermKey")
    let asPeripheral = file.longTermKey("PeripheralLongTermKey") ?? file.longTermKey("SlaveLongTermKey")
    let both = [asPeripheral, asCentral].compactMap { $0 }.first { $0.isSecureConnections }
    self.init(
      peer: BluetoothAddress(peer.value, kind), own: own, isSecureConnections: both != nil)
    keyAsCentral = (both ?? asCentral)?.key
    keyAsPeripheral = (both ?? asPeripheral)?.key
    guard keyAsCentral != nil || keyAsPeripheral != nil else { return nil }
    identityResolvingKey = file.key("IdentityResolvingKey").flatMap { $0.contains { $0 != 0 } ? $0 : nil }
    ownSigning = file.signingKey("LocalSignatureKey")
    // bluetoothd keeps the last counter that it has taken, and 0 before the first.
    peerSigning = file.signingKey("RemoteSignatureKey").map { key in
      SigningKey(
        key: key.key, counter: key.counter == 0 || key.counter == .max ? key.counter : key.counter + 1)
    }
    name = file["General", "Alias"] ?? file["General", "Name"]
  }
}

/// A file of groups, as GLib's GKeyFile reads it: of a value that is there twice, the last one counts.
private struct SettingsFile {
  private var values: [String: [String: String]] = [:]

  init(_ text: some Collection<UInt8>) {
    var group = ""
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let line = Self.trimmed(line)
      if line.first == UInt8(ascii: "#") { continue }
      if line.first == UInt8(ascii: "["), line.last == UInt8(ascii: "]") {
        group = String(decoding: line.dropFirst().dropLast(), as: UTF8.self)
      } else if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
        let name = String(decoding: Self.trimmed(line[..<equals]), as: UTF8.self)
        values[group, default: [:]][name] = Self.unescaped(Self.trimmed(line[line.index(after: equals)...]))
      }
    }
  }

  subscript(group: String, name: String) -> String? { values[group]?[name] }

  private static func trimmed(_ bytes: some Collection<UInt8>) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    var rest = ArraySlice(bytes.drop(while: isSpace))
    while let last = rest.last, isSpace(last) { rest.removeLast() }
    return rest
  }

  /// GLib writes a leading space, and characters that would end the line, behind a backslash.
  private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
    var result: [UInt8] = []
    var isEscaped = false
    for byte in bytes {
      switch (isEscaped, byte) {
      case (false, UInt8(ascii: "\\")):
        isEscaped = true
        continue
      case (true, UInt8(ascii: "s")): result.append(0x20)
      case (true, UInt8(ascii: "n")): result.append(0x0A)
      case (true, UInt8(ascii: "t")): result.append(0x09)
      case (true, UInt8(ascii: "r")): result.append(0x0D)
      default: result.append(byte)
      }
      isEscaped = false
    }
    return String(decoding: result, as: UTF8.self)
  }

  // MARK: Keys

  /// The key of a group; nil unless it has 16 bytes.
  func key(_ group: String) -> [UInt8]? {
    guard let bytes = self[group, "Key"].flatMap({ Hex.bytes($0) }), bytes.count == 16 else { return nil }
    return bytes
  }

  func longTermKey(_ group: String) -> (key: LongTermKey, isSecureConnections: Bool)? {
    // The numbers of Load Long Term Keys (BlueZ, doc/mgmt-api.txt); 4 is a key of the debug key pair, which protects nothing.
    let strength = self[group, "Authenticated"].map { Int($0) ?? 0 } ?? 0
    guard let value = key(group), (0...3).contains(strength),
      let size = self[group, "EncSize"].flatMap({ Int($0) }), (7...16).contains(size)
    else { return nil }
    var key = LongTermKey(value, isAuthenticated: strength & 1 == 1, size: size)
    let isSecureConnections = strength >= 2
    if !isSecureConnections {
      guard let random = self[group, "Rand"].flatMap(Self.random),
        let diversifier = self[group, "EDiv"].flatMap({ UInt16($0) })
      else { return nil }
      (key.random, key.diversifier) = (random, diversifier)
    }
    return (key, isSecureConnections)
  }

  /// A number, or, written by an old version, the eight bytes as on the wire.
  private static func random(_ text: String) -> UInt64? {
    guard text.hasPrefix("0x") else { return UInt64(text) }
    guard let bytes = Hex.bytes(text), bytes.count == 8 else { return nil }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  func signingKey(_ group: String) -> Bond.SigningKey? {
    key(group).map { key in
      Bond.SigningKey(key: key, counter: self[group, "Counter"].flatMap { UInt32($0) } ?? 0)
    }
  }
}
