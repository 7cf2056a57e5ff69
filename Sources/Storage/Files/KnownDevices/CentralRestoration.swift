import HaloBluetoothCore
import HaloSystem

/// The state of one of a program's managers, stored for its next run. The managers of all programs of a user share a file for
/// each role.
package protocol RestorationRecord: StoredEntry, Equatable {
  /// The role of the managers, for messages: central, peripheral.
  static var role: String { get }
  /// The name of the file.
  static var fileName: String { get }
  /// The name of the program.
  var program: String { get }
  /// The manager, among those of the program.
  var identifier: String { get }
  var isEmpty: Bool { get }

  init(program: String, identifier: String)
}

extension RestorationRecord {
  /// The number of managers that are kept: the ones that were stored last.
  package static var limit: Int { 64 }

  private static func file(_ path: String) -> VersionedFile<Self> {
    VersionedFile(path: path, of: "managers to restore", in: "managers", keeping: limit)
  }

  /// Locks the record of a manager for one that runs, until the lock is released or the process ends, for any reason.
  ///
  /// - Parameters:
  ///   - program: the name of the program
  ///   - identifier: the manager
  ///   - folder: where the file with the records is; it is made if it is missing
  /// - Returns: nil if another one that runs has it, in this process or in another
  /// - Throws: if nothing can be stored there
  package static func hold(program: String, identifier: String, folder: String) throws(FileError) -> FileLock?
  {
    let running = folder + "/running"
    // Before anything is made in a folder of another user.
    try PrivateFolder.make(folder)
    try PrivateFolder.make(running)
    // A name of any length and with any characters has a file of its own.
    let hash = FNV1a.hash("\(program)\0\(identifier)".utf8)
    return try FileLock.attempt("\(running)/\(role).\(String(hash, radix: 16))")
  }

  /// The record of a manager; nil for none.
  ///
  /// - Parameters:
  ///   - program: the name of the program
  ///   - identifier: the manager
  ///   - path: the file; it may be missing
  ///   - report: takes messages for the user
  package static func stored(
    program: String, identifier: String, path: String, report: (String) -> Void
  ) -> Self? {
    file(path).read(report).last { $0.program == program && $0.identifier == identifier }
  }

  /// Stores it, in place of the earlier record of this manager. Blocks for the time of a few writes, or for the lock.
  ///
  /// - Parameters:
  ///   - path: the file, which is made if it is missing
  ///   - report: takes messages for the user
  package func store(path: String, report: (String) -> Void) {
    do throws(VersionedFileError) {
      try Self.file(path).update(report) { all in
        let before = all
        all.removeAll { $0.program == program && $0.identifier == identifier }
        if !isEmpty { all.append(self) }
        return all != before
      }
    } catch {
      report("cannot store what the \(Self.role) manager does: \(error)")
    }
  }
}

/// The state of a program's central manager: the connections that it wants and its scan. It is restored when the program is
/// started again.
package struct CentralRestoration: Hashable, Sendable, RestorationRecord {
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
