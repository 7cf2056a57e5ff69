import HCI
import ATT
import HaloBluetoothCore
import HaloGATT
import HaloSecurityManager

/// A bond as an entry of a file. What is written is read again, and what is read has the lengths and ranges that the
/// protocol relies on.
extension Bond: StoredEntry {
  /// The longest name that a device can have, in bytes (Core Specification Vol 3, Part C, 12.1).
  package static let longestName = 248

  package init(_ json: JSONValue) throws(JSONError) {
    self.init(
      peer: try json.identity("address", "type"), own: try json.identity("ownAddress", "ownType"),
      isSecureConnections: try json.member("secureConnections"))
    guard peer.isIdentity else { throw .wrongKind(path: ["address"]) }
    identityResolvingKey = try json.key("identityResolvingKey")
    ownIdentityResolvingKey = try json.key("ownIdentityResolvingKey")
    keyAsCentral = try json.optionalMember("keyAsCentral", as: StoredLongTermKey.self)?.key
    keyAsPeripheral = try json.optionalMember("keyAsPeripheral", as: StoredLongTermKey.self)?.key
    peerSigning = try json.optionalMember("peerSigning", as: StoredSigningKey.self)?.key
    ownSigning = try json.optionalMember("ownSigning", as: StoredSigningKey.self)?.key
    client = try json.optionalMember("client", as: StoredClient.self)?.record
    name = try json.optionalMember("name")
    guard name.map({ $0.utf8.count <= Self.longestName }) ?? true else { throw .wrongKind(path: ["name"]) }
  }

  package var json: JSONValue {
    .members([
      "address": .string("\(peer)"), "type": .integer(Int(peer.kind.rawValue)),
      "ownAddress": .string("\(own)"), "ownType": .integer(Int(own.kind.rawValue)),
      "secureConnections": .bool(isSecureConnections),
      "identityResolvingKey": identityResolvingKey.map { .string(Hex.string($0)) },
      "ownIdentityResolvingKey": ownIdentityResolvingKey.map { .string(Hex.string($0)) },
      "keyAsCentral": keyAsCentral.map { StoredLongTermKey(key: $0).json },
      "keyAsPeripheral": keyAsPeripheral.map { StoredLongTermKey(key: $0).json },
      "peerSigning": peerSigning.map { StoredSigningKey(key: $0).json },
      "ownSigning": ownSigning.map { StoredSigningKey(key: $0).json },
      "client": client.map { StoredClient(record: $0).json },
      "name": name.map { .string($0) },
    ])
  }
}

private struct StoredLongTermKey: JSONDecodable {
  let key: LongTermKey

  init(key: LongTermKey) { self.key = key }

  init(_ json: JSONValue) throws(JSONError) {
    guard let value = try json.key("key") else { throw .missing(path: ["key"]) }
    // JSON has no whole number of 64 bits that all programs read.
    let random = UInt64(try json.member("random", as: String.self), radix: 16)
    guard let random else { throw .wrongKind(path: ["random"]) }
    let size: Int = try json.member("size")
    guard (7...16).contains(size) else { throw .wrongKind(path: ["size"]) }
    key = LongTermKey(
      value, random: random, diversifier: try json.member("diversifier"),
      isAuthenticated: try json.member("authenticated"), size: size)
  }

  var json: JSONValue {
    .object([
      "key": .string(Hex.string(key.value)), "random": .string(String(key.random, radix: 16)),
      "diversifier": .integer(Int(key.diversifier)), "authenticated": .bool(key.isAuthenticated),
      "size": .integer(key.size),
    ])
  }
}

private struct StoredSigningKey: JSONDecodable {
  let key: Bond.SigningKey

  init(key: Bond.SigningKey) { self.key = key }

  init(_ json: JSONValue) throws(JSONError) {
    guard let value = try json.key("key") else { throw .missing(path: ["key"]) }
    key = Bond.SigningKey(key: value, counter: try json.member("counter"))
  }

  var json: JSONValue {
    .object(["key": .string(Hex.string(key.key)), "counter": .integer(Int(key.counter))])
  }
}

/// What a server keeps of a client. More than fits into a table of attributes is not read.
private struct StoredClient: JSONDecodable {
  let record: ClientRecord

  private static let mostConfigurations = 256
  /// The features of the specification need one byte (Core Specification Vol 3, Part G, 7.2).
  private static let mostFeatures = 16

  init(record: ClientRecord) { self.record = record }

  init(_ json: JSONValue) throws(JSONError) {
    let features = Hex.bytes(try json.member("features", as: String.self))
    guard let features, (1...Self.mostFeatures).contains(features.count) else {
      throw .wrongKind(path: ["features"])
    }
    // JSON has no whole number of 64 bits that all programs read.
    guard let table = UInt64(try json.member("table", as: String.self), radix: 16) else {
      throw .wrongKind(path: ["table"])
    }
    let configurations: [StoredConfiguration] = try json.member("configurations")
    guard configurations.count <= Self.mostConfigurations else { throw .wrongKind(path: ["configurations"]) }
    record = ClientRecord(
      configurations: configurations.map(\.configuration), features: features, table: table)
  }

  var json: JSONValue {
    .object([
      "configurations": .array(
        record.configurations.prefix(Self.mostConfigurations).map {
          StoredConfiguration(configuration: $0).json
        }),
      "features": .string(Hex.string(Array(record.features.prefix(Self.mostFeatures)))),
      "table": .string(String(record.table, radix: 16)),
    ])
  }
}

private struct StoredConfiguration: JSONDecodable {
  let configuration: ClientRecord.Configuration

  init(configuration: ClientRecord.Configuration) { self.configuration = configuration }

  init(_ json: JSONValue) throws(JSONError) {
    let type = BluetoothUUID(try json.member("type", as: String.self))
    guard let type else { throw .wrongKind(path: ["type"]) }
    configuration = ClientRecord.Configuration(
      handle: AttributeHandle(try json.member("handle", as: UInt16.self)), type: type,
      value: ClientConfiguration(rawValue: try json.member("value", as: UInt16.self)))
  }

  var json: JSONValue {
    .object([
      "handle": .integer(Int(configuration.handle.rawValue)), "type": .string("\(configuration.type)"),
      "value": .integer(Int(configuration.value.rawValue)),
    ])
  }
}

extension JSONValue {
  /// A key of 16 bytes; nil if it is missing.
  fileprivate func key(_ name: String) throws(JSONError) -> [UInt8]? {
    guard let text = try optionalMember(name, as: String.self) else { return nil }
    guard let bytes = Hex.bytes(text), bytes.count == 16 else { throw .wrongKind(path: [name]) }
    return bytes
  }

  /// An address that stays: public or random.
  fileprivate func identity(_ name: String, _ type: String) throws(JSONError) -> BluetoothAddress {
    let kind = BluetoothAddress.Kind(rawValue: try member(type))
    guard let plain = BluetoothAddress(try member(name, as: String.self)), kind == .public || kind == .random
    else { throw .wrongKind(path: [name]) }
    return BluetoothAddress(plain.value, kind)
  }
}
