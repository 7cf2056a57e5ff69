import HaloBluetoothCore

/// The stored data of a peripheral of any kind that was connected.
package struct KnownPeripheral: Hashable, Sendable, StoredEntry {
  package var peer: PeerIdentity
  package var name: String

  package init(peer: PeerIdentity, name: String) {
    self.peer = peer
    self.name = name
  }

  package init(_ json: JSONValue) throws(JSONError) {
    peer = try PeerIdentity(stored: json)
    name = try json.member("name")
    guard name.utf8.count <= 512 else { throw .wrongKind(path: ["name"]) }
  }

  package var json: JSONValue {
    .object([
      "address": .string(peer.description), "type": .integer(Int(peer.address.kind.rawValue)),
      "name": .string(name),
    ])
  }
}

/// The peripherals that were connected, in a JSON file with mode 0600. An error of the file ends nothing: a damaged file is
/// renamed and a new one is begun, a failed write is skipped, and each is reported in a message.
package struct KnownPeripherals: Sendable {
  /// The number of peripherals that are kept: the ones that were stored last.
  package static let limit = 256

  package private(set) var peripherals: [KnownPeripheral]

  /// Reads a file. One that is damaged counts as empty.
  ///
  /// - Parameters:
  ///   - path: the file; it may be missing
  ///   - report: takes messages for the user
  package init(path: String, report: (String) -> Void) {
    peripherals = Self.file(path).read(report)
  }

  package subscript(peer: PeerIdentity) -> KnownPeripheral? {
    peripherals.last { $0.peer == peer }
  }

  /// Adds a peripheral, in place of its previous entry. The file is not changed.
  package mutating func set(_ peripheral: KnownPeripheral) {
    peripherals.removeAll { $0.peer == peripheral.peer }
    peripherals.append(peripheral)
    peripherals.removeFirst(max(0, peripherals.count - Self.limit))
  }

  /// Adds a peripheral to the file, which other processes may change at the same time. Blocks for the time of a few
  /// writes, or for the lock.
  ///
  /// - Parameters:
  ///   - peripheral: replaces the entry of its address
  ///   - path: the file, which is made if it is missing
  ///   - report: takes messages for the user
  package static func store(_ peripheral: KnownPeripheral, path: String, report: (String) -> Void) {
    do throws(VersionedFileError) {
      try file(path).update(report) { peripherals in
        guard peripherals.last != peripheral else { return false }
        peripherals.removeAll { $0.peer == peripheral.peer }
        peripherals.append(peripheral)
        return true
      }
    } catch {
      report("cannot store the name of a peripheral: \(error)")
    }
  }

  private static func file(_ path: String) -> VersionedFile<KnownPeripheral> {
    VersionedFile(path: path, of: "known peripherals", in: "peripherals", keeping: limit)
  }
}
