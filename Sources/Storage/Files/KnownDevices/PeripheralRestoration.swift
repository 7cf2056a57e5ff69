import HaloBluetoothCore

/// The state of a program's peripheral manager: the services that it offers, and its advertisement. It is restored when the
/// program is started again.
package struct PeripheralRestoration: Hashable, Sendable, RestorationRecord {
  package struct Descriptor: Hashable, Sendable {
    package var uuid: BluetoothUUID
    package var value: [UInt8]

    package init(uuid: BluetoothUUID, value: [UInt8]) {
      self.uuid = uuid
      self.value = value
    }
  }

  package struct Characteristic: Hashable, Sendable {
    package var uuid: BluetoothUUID
    /// With the bits of the program's API.
    package var properties: UInt16
    /// With the bits of the program's API.
    package var permissions: UInt16
    /// Nil if the program answers reads.
    package var value: [UInt8]?
    package var descriptors: [Descriptor]

    package init(
      uuid: BluetoothUUID, properties: UInt16, permissions: UInt16, value: [UInt8]?,
      descriptors: [Descriptor] = []
    ) {
      self.uuid = uuid
      self.properties = properties
      self.permissions = permissions
      self.value = value
      self.descriptors = descriptors
    }
  }

  package struct Service: Hashable, Sendable {
    /// Its number, among those of the manager.
    package var number: Int
    package var uuid: BluetoothUUID
    package var isPrimary: Bool
    /// The numbers of other services.
    package var included: [Int]
    package var characteristics: [Characteristic]

    package init(
      number: Int, uuid: BluetoothUUID, isPrimary: Bool, included: [Int], characteristics: [Characteristic]
    ) {
      self.number = number
      self.uuid = uuid
      self.isPrimary = isPrimary
      self.included = included
      self.characteristics = characteristics
    }
  }

  package struct Advertisement: Hashable, Sendable {
    package var name: String?
    package var services: [BluetoothUUID]
    /// By their services, in the order of their texts.
    package var serviceData: [Descriptor]
    /// With the company, two bytes, least significant first.
    package var manufacturerData: [UInt8]?

    package init(
      name: String? = nil, services: [BluetoothUUID] = [], serviceData: [Descriptor] = [],
      manufacturerData: [UInt8]? = nil
    ) {
      self.name = name
      self.services = services
      self.serviceData = serviceData
      self.manufacturerData = manufacturerData
    }
  }

  /// The name of the program.
  package var program: String
  /// The manager, among those of the program.
  package var identifier: String
  /// In the order in which they were added.
  package var services: [Service] = []
  /// Nil for none.
  package var advertisement: Advertisement?

  package init(program: String, identifier: String) {
    self.program = program
    self.identifier = identifier
  }

  package var isEmpty: Bool { services.isEmpty && advertisement == nil }

  /// The most services that are stored.
  package static let maximumServices = 64

  package static let role = "peripheral"
  package static let fileName = "peripheral-restoration.json"

  package init(_ json: JSONValue) throws(JSONError) {
    program = try json.member("program")
    identifier = try json.member("identifier")
    services = try json.member("services")
    advertisement = try json.optionalMember("advertisement")
    guard services.count <= Self.maximumServices, Set(services.map(\.number)).count == services.count else {
      throw .wrongKind(path: ["services"])
    }
  }

  package var json: JSONValue {
    .members([
      "program": .string(program), "identifier": .string(identifier),
      "services": .array(services.map(\.json)), "advertisement": advertisement?.json,
    ])
  }
}

extension PeripheralRestoration.Service: JSONDecodable {
  package init(_ json: JSONValue) throws(JSONError) {
    number = try json.member("number")
    uuid = try BluetoothUUID(stored: try json.member("uuid"))
    isPrimary = try json.member("primary")
    included = try json.member("included")
    characteristics = try json.member("characteristics")
    // Numbers are counted on from the highest one.
    guard (0..<1 << 32).contains(number) else { throw .wrongKind(path: ["number"]) }
  }

  fileprivate var json: JSONValue {
    .members([
      "number": .integer(number), "uuid": .string("\(uuid)"), "primary": .bool(isPrimary),
      "included": .array(included.map { .integer($0) }),
      "characteristics": .array(characteristics.map(\.json)),
    ])
  }
}

extension PeripheralRestoration.Characteristic: JSONDecodable {
  package init(_ json: JSONValue) throws(JSONError) {
    uuid = try BluetoothUUID(stored: try json.member("uuid"))
    properties = UInt16(truncatingIfNeeded: try json.member("properties", as: Int.self))
    permissions = UInt16(truncatingIfNeeded: try json.member("permissions", as: Int.self))
    value = try json.optionalMember("value", as: String.self).map { text throws(JSONError) in
      try bytes(stored: text)
    }
    descriptors = try json.member("descriptors")
  }

  fileprivate var json: JSONValue {
    .members([
      "uuid": .string("\(uuid)"), "properties": .integer(Int(properties)),
      "permissions": .integer(Int(permissions)), "value": value.map { .string(Hex.string($0)) },
      "descriptors": .array(descriptors.map(\.json)),
    ])
  }
}

extension PeripheralRestoration.Descriptor: JSONDecodable {
  package init(_ json: JSONValue) throws(JSONError) {
    uuid = try BluetoothUUID(stored: try json.member("uuid"))
    value = try bytes(stored: try json.member("value"))
  }

  fileprivate var json: JSONValue {
    .members(["uuid": .string("\(uuid)"), "value": .string(Hex.string(value))])
  }
}

extension PeripheralRestoration.Advertisement: JSONDecodable {
  package init(_ json: JSONValue) throws(JSONError) {
    name = try json.optionalMember("name")
    services = try json.member("services", as: [String].self).map { text throws(JSONError) in
      try BluetoothUUID(stored: text)
    }
    serviceData = try json.member("serviceData")
    manufacturerData = try json.optionalMember("manufacturerData", as: String.self).map {
      text throws(JSONError) in try bytes(stored: text)
    }
    guard (manufacturerData?.count ?? 2) >= 2 else { throw .wrongKind(path: ["manufacturerData"]) }
  }

  fileprivate var json: JSONValue {
    .members([
      "name": name.map { .string($0) }, "services": .array(services.map { .string("\($0)") }),
      "serviceData": .array(serviceData.map(\.json)),
      "manufacturerData": manufacturerData.map { .string(Hex.string($0)) },
    ])
  }
}

/// The longest value of an attribute.
private let maximumValueLength = 512

private func bytes(stored text: String) throws(JSONError) -> [UInt8] {
  guard let bytes = Hex.bytes(text), bytes.count <= maximumValueLength else { throw .wrongKind(path: []) }
  return bytes
}
