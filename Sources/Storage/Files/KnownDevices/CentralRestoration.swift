import HaloBluetoothCore

/// The state of a program's central manager: the connections that it wants and its scan. It is restored when the program is
/// started again.
package struct CentralRestoration: Hashable, Sendable {
  package struct Peripheral: Hashable, Sendable {
    package var peer: PeerIdentity
    package var name: String?
    /// Whether a link that is lost is established again.
    package var reconnects: Bool

    package init(peer: PeerIdentity, name: String?, reconnects: Bool) {
      self.peer = peer
      self.name = name
      self.reconnects = reconnects
    }
  }

  package struct Scan: Hashable, Sendable {
    /// Nil for all.
    package var services: [BluetoothUUID]?
    package var solicitedServices: [BluetoothUUID]
    package var allowsDuplicates: Bool

    package init(services: [BluetoothUUID]?, solicitedServices: [BluetoothUUID], allowsDuplicates: Bool) {
      self.services = services
      self.solicitedServices = solicitedServices
      self.allowsDuplicates = allowsDuplicates
    }
  }

  /// The name of the program.
  package var program: String
  /// The manager, among those of the program.
  package var identifier: String
  /// Connected, or to be connected to, in the order of the requests.
  package var peripherals: [Peripheral] = []
  /// Nil for none.
  package var scan: Scan?

  package init(program: String, identifier: String) {
    self.program = program
    self.identifier = identifier
  }

  package var isEmpty: Bool { peripherals.isEmpty && scan == nil }

  /// Adds a peripheral, in place of its previous entry.
  package mutating func add(_ peripheral: Peripheral) {
    remove(peripheral.peer)
    peripherals.append(peripheral)
    peripherals.removeFirst(max(0, peripherals.count - Self.maximumPeripherals))
  }

  package mutating func remove(_ peer: PeerIdentity) {
    peripherals.removeAll { $0.peer == peer }
  }

  private static let maximumPeripherals = 64
}

extension CentralRestoration: RestorationRecord {
  package static let role = "central"
  package static let fileName = "restoration.json"

  package init(_ json: JSONValue) throws(JSONError) {
    program = try json.member("program")
    identifier = try json.member("identifier")
    peripherals = try json.member("peripherals")
    scan = try json.optionalMember("scan")
    guard peripherals.count <= Self.maximumPeripherals else { throw .wrongKind(path: ["peripherals"]) }
  }

  package var json: JSONValue {
    .members([
      "program": .string(program), "identifier": .string(identifier),
      "peripherals": .array(peripherals.map(\.json)), "scan": scan?.json,
    ])
  }
}

extension CentralRestoration.Peripheral: JSONDecodable {
  package init(_ json: JSONValue) throws(JSONError) {
    peer = try PeerIdentity(stored: json)
    name = try json.optionalMember("name")
    reconnects = try json.member("reconnects")
  }

  fileprivate var json: JSONValue {
    .members([
      "address": .string(peer.description), "type": .integer(Int(peer.address.kind.rawValue)),
      "name": name.map { .string($0) }, "reconnects": .bool(reconnects),
    ])
  }
}

extension CentralRestoration.Scan: JSONDecodable {
  package init(_ json: JSONValue) throws(JSONError) {
    services = try json.optionalMember("services", as: [String].self)?.map { text throws(JSONError) in
      try BluetoothUUID(stored: text)
    }
    solicitedServices = try json.member("solicitedServices", as: [String].self).map {
      text throws(JSONError) in
      try BluetoothUUID(stored: text)
    }
    allowsDuplicates = try json.member("allowsDuplicates")
  }

  fileprivate var json: JSONValue {
    .members([
      "services": services.map { .array($0.map { .string("\($0)") }) },
      "solicitedServices": .array(solicitedServices.map { .string("\($0)") }),
      "allowsDuplicates": .bool(allowsDuplicates),
    ])
  }
}

extension BluetoothUUID {
  init(stored text: String) throws(JSONError) {
    guard let uuid = BluetoothUUID(text) else { throw .wrongKind(path: ["services"]) }
    self = uuid
  }
}

extension PeerIdentity {
  /// Reads `address` and `type` of an entry.
  init(stored json: JSONValue) throws(JSONError) {
    let kind = BluetoothAddress.Kind(
      rawValue: UInt8(truncatingIfNeeded: try json.member("type", as: Int.self)))
    guard let plain = BluetoothAddress(try json.member("address", as: String.self)), kind.isKnown else {
      throw .wrongKind(path: ["address"])
    }
    self.init(BluetoothAddress(plain.value, kind))
  }
}
