import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem

/// The bonds of a user, in a JSON file that only this user can read. Several programs may use it at the same time: each
/// change is made to what the file has then, and what others have changed is read before it is used.
package final class BondFile {
  /// The number of bonds that are kept. No more are taken: a bond that makes room for another one would be lost without a
  /// word, and whoever pairs often enough could do that to each of them.
  package static let limit = 256
  /// The maximum size of the file, in bytes: more than the largest bonds need.
  private static let sizeLimit = 1 << 20

  /// Nil without a folder for state.
  package static var standardPath: String? { UserFolders.state.map { $0 + "/bonds.json" } }

  private let file: VersionedFile<Bond>
  private let report: (String) -> Void
  private var known: [Bond] = []
  /// The file that was read last: nil before the first reading, and `.some(nil)` if there was none.
  private var read: StateFile.Stamp??

  /// Does not touch the file.
  ///
  /// - Parameters:
  ///   - path: the file; it may be missing
  ///   - report: takes messages for the user
  package init(path: String, report: @escaping (String) -> Void) {
    file = VersionedFile(
      path: path, of: "bonds", in: "bonds", keeping: Self.limit, size: Self.sizeLimit, isSecret: true)
    self.report = report
  }

  /// All bonds, the newest last. The file is only read if it has changed. While it can't be read, the bonds are the last
  /// ones that were.
  package var bonds: [Bond] {
    let stamp = file.stamp
    guard read != .some(stamp) else { return known }
    read = .some(stamp)
    do throws(FileError) {
      known = try file.load(report)
    } catch {
      report("cannot read the bonds: \(error); devices that are not known have to be paired again")
    }
    return known
  }

  /// Keeps a bond, in place of the one with the same peer and the same own address.
  package func store(_ bond: Bond) throws(BondStoreError) {
    let bond = try Self.storable(bond)
    try change("store the bond with \(bond.peer)") { bonds throws(BondStoreError) in
      guard bonds.last != bond else { return false }
      bonds.removeAll { $0.isInPlace(of: bond) }
      try Self.add(bond, to: &bonds)
      return true
    }
  }

  /// Keeps bonds of another program, in one step. Those that there are stay as they are: their devices may have been paired
  /// with since.
  ///
  /// - Returns: the bonds that are kept now, and those that are not, as there was one
  package func add(_ others: [Bond]) throws(BondStoreError) -> (added: [Bond], present: [Bond]) {
    var (added, present): ([Bond], [Bond]) = ([], [])
    try change("store the bonds") { bonds throws(BondStoreError) in
      for bond in others {
        if bonds.contains(where: { $0.isInPlace(of: bond) }) {
          present.append(bond)
          continue
        }
        let bond = try Self.storable(bond)
        try Self.add(bond, to: &bonds)
        added.append(bond)
      }
      return !added.isEmpty
    }
    return (added, present)
  }

  /// A bond with a name that is not too long. One that can't be read again would make the whole file a damaged one.
  private static func storable(_ bond: Bond) throws(BondStoreError) -> Bond {
    var bond = bond
    while let name = bond.name, name.utf8.count > Bond.longestName { bond.name = String(name.dropLast()) }
    do throws(JSONError) { return try Bond(bond.json) } catch {
      throw BondStoreError("cannot store the bond with \(bond.peer): \(error)")
    }
  }

  private static func add(_ bond: Bond, to bonds: inout [Bond]) throws(BondStoreError) {
    guard bonds.count < limit else {
      throw BondStoreError(
        "cannot store the bond with \(bond.peer): \(limit) bonds are stored, which is the most; "
          + "make room with: halo-raw bonds forget DEVICE")
    }
    bonds.append(bond)
  }

  /// Forgets the bonds with a peer.
  package func remove(_ peer: BluetoothAddress) throws(BondStoreError) {
    try change("forget the bond with \(peer)") { bonds in
      let count = bonds.count
      bonds.removeAll { $0.peer == peer }
      return bonds.count < count
    }
  }

  private func change(
    _ what: String, _ change: (inout [Bond]) throws(BondStoreError) -> Bool
  ) throws(BondStoreError) {
    var refusal: BondStoreError?
    do throws(VersionedFileError) {
      try file.update(report) { bonds in
        do throws(BondStoreError) {
          return try change(&bonds)
        } catch {
          refusal = error
          return false
        }
      }
    } catch {
      throw BondStoreError("cannot \(what): \(error)")
    }
    if let refusal { throw refusal }
  }
}

extension Bond {
  /// Whether only one of both is kept.
  func isInPlace(of other: Bond) -> Bool { peer == other.peer && own == other.own }
}
