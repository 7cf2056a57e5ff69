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

  /// The file of the user who has called sudo, also before root is given up; nil without a folder for state.
  package static var pathOfCaller: String? { UserFolders.stateOfCaller.map { $0 + "/bonds.json" } }

  /// Nil without a folder for state.
  package static var standardPath: String? { UserFolders.state.map { $0 + "/bonds.json" } }

  private let file: VersionedFile<Bond>
  private var known: [Bond] = []
  /// The file that was read last: nil before the first reading, and `.some(nil)` if there was none.
  private var read: StateFile.Stamp??

  /// Does not touch the file.
  ///
  /// - Parameter path: the file; it may be missing
  package init(path: String) {
    file = VersionedFile(
      path: path, of: "bonds", in: "bonds", keeping: Self.limit, size: Self.sizeLimit, hasKeys: true)
  }

  /// All bonds, the newest last. The file is only read if it has changed. While it can't be read, the bonds are the last
  /// ones that were.
  package var bonds: [Bond] {
    let stamp = file.stamp
    guard read != .some(stamp) else { return known }
    // One that can't be read is not tried again before it changes.
    read = .some(stamp)
    return (try? load()) ?? known
  }

  /// The same, for a program that does not go on without them.
  package func load() throws(BondStoreError) -> [Bond] {
    let stamp = file.stamp
    do throws(VersionedFileError) {
      known = try file.load { _ in }
    } catch {
      throw BondStoreError("cannot read the bonds", error)
    }
    read = .some(stamp)
    return known
  }

  /// Makes a change.
  ///
  /// - Returns: the bond that it was made to, as it was before
  @discardableResult
  package func make(_ change: BondChange) throws(BondStoreError) -> Bond? {
    var old: Bond?
    try self.change("store the bond with \(change.peer)") { bonds throws(BondStoreError) in
      let before = bonds
      old = try change.make(in: &bonds)
      if bonds.count > before.count { try Self.checkRoom(bonds, change.peer) }
      for index in bonds.indices where bonds[index].peer == change.peer {
        bonds[index].shortenName()
        try Self.check(bonds[index])
      }
      return bonds != before
    }
    return old
  }

  /// The number of bonds that devices have made by pairing with a server while nobody compared a number: they leave room for
  /// those that the user makes.
  package static let uncheckedLimit = 192

  /// Keeps bonds of another program, in one step. Those that there are stay as they are: their devices may have been paired
  /// with since.
  ///
  /// - Returns: the bonds that are kept now, those that are not, as there was one, and why others can't be
  package func add(
    _ others: [Bond]
  ) throws(BondStoreError) -> (added: [Bond], present: [Bond], refused: [BondStoreError]) {
    var (added, present, refused): ([Bond], [Bond], [BondStoreError]) = ([], [], [])
    try change("store the bonds") { bonds throws(BondStoreError) in
      for bond in others {
        if bonds.contains(where: { $0.isInPlace(of: bond) }) {
          present.append(bond)
          continue
        }
        var bond = bond
        bond.shortenName()
        do throws(BondStoreError) {
          try Self.check(bond)
          try Self.checkRoom(bonds + [bond], bond.peer)
        } catch {
          refused.append(error)
          continue
        }
        bonds.append(bond)
        added.append(bond)
      }
      return !added.isEmpty
    }
    return (added, present, refused)
  }

  private static func checkRoom(_ bonds: [Bond], _ new: BluetoothAddress) throws(BondStoreError) {
    let unchecked = bonds.count(where: { !$0.isOfChosenPeer })
    let isUnchecked = bonds.last?.isOfChosenPeer == false
    guard bonds.count <= limit, !isUnchecked || unchecked <= uncheckedLimit else { throw .tooMany(new) }
  }

  /// What can't be read again would make the whole file a damaged one.
  private static func check(_ bond: Bond) throws(BondStoreError) {
    do throws(JSONError) { _ = try Bond(bond.json) } catch {
      throw BondStoreError("cannot store the bond with \(bond.peer): \(error)")
    }
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
      try file.update({ _ in }) { bonds in
        do throws(BondStoreError) {
          return try change(&bonds)
        } catch {
          refusal = error
          return false
        }
      }
    } catch {
      throw BondStoreError("cannot \(what)", error)
    }
    if let refusal { throw refusal }
  }
}

extension BondStoreError {
  fileprivate init(_ what: String, _ error: VersionedFileError) {
    let text = "\(what): \(error)"
    switch error {
    case .file: self.init(text)
    case .damaged: self.init(text, isDamage: true)
    case .newer: self.init(text + "; update halo-raw, or move the file away", isDamage: true)
    }
  }

  fileprivate static func tooMany(_ peer: BluetoothAddress) -> BondStoreError {
    BondStoreError(
      "cannot store the bond with \(peer): \(BondFile.limit) bonds are the most, and \(BondFile.uncheckedLimit) of devices that "
        + "have paired with a server unchecked; make room with: halo-raw bonds forget DEVICE")
  }
}

extension Bond {
  /// Whether only one of both is kept.
  fileprivate func isInPlace(of other: Bond) -> Bool { peer == other.peer && own == other.own }

  fileprivate mutating func shortenName() {
    while let name, name.utf8.count > Bond.longestName { self.name = String(name.dropLast()) }
  }
}
