import HaloBluetoothCore
import RingLink

/// The rings that were used before, in a JSON file: their handles, which save a scan and a discovery, and the settings of their
/// clocks. An error of the file ends no command: an unreadable file counts as empty, a failed write is skipped, and a message
/// reports it if the user can fix it.
package struct KnownRings {
  /// The number of rings that are kept: the ones that were used last.
  package static let limit = 256

  package private(set) var rings: [KnownRing]
  private let file: VersionedFile<KnownRing>?
  private let report: (String) -> Void

  /// - Parameters:
  ///   - path: nil stores nothing
  ///   - report: takes messages for the user
  package init(path: String?, report: @escaping (String) -> Void) {
    file = path.map { VersionedFile(path: $0, of: "known rings", in: nil, keeping: Self.limit) }
    self.report = report
    rings = file?.read(report) ?? []
  }

  /// The one selected ring; nil if there is none or more than one.
  package func only(_ selector: RingSelector) -> KnownRing? {
    let meant = rings.filter { $0.isMeant(by: selector) }
    return meant.count == 1 ? meant[0] : nil
  }

  // MARK: Changes

  /// Stores a ring, in place of its previous entry.
  package mutating func remember(_ ring: KnownRing) {
    func merged(with rings: [KnownRing]) -> (old: KnownRing?, new: KnownRing) {
      let old = rings.first { $0.address == ring.address && $0.type == ring.type }
      var new = ring
      new.name = ring.name ?? old?.name
      new.clock = ring.clock ?? old?.clock
      return (old, new)
    }
    let (old, new) = merged(with: rings)
    guard old != new else { return }
    change { rings in
      let new = merged(with: rings).new
      rings.removeAll { $0.address == ring.address && $0.type == ring.type }
      rings.append(new)
    }
  }

  /// Removes the selected rings.
  ///
  /// - Returns: the removed rings
  package mutating func forget(_ selector: RingSelector) -> [KnownRing] {
    var meant: [KnownRing] = []
    change { rings in
      meant = rings.filter { $0.isMeant(by: selector) }
      rings.removeAll { $0.isMeant(by: selector) }
    }
    return meant
  }

  /// Removes the handles of a ring, but not the setting of its clock.
  package mutating func forgetLayout(of peer: PeerIdentity) {
    guard rings.contains(where: { $0.peer == peer }) else { return }
    change { rings in
      let ring = rings.first { $0.peer == peer }
      rings.removeAll { $0.peer == peer }
      if let ring, let clock = ring.clock {
        var rest = KnownRing(name: ring.name, peer: peer, layout: nil)
        rest.clock = clock
        rings.append(rest)
      }
    }
  }

  /// Stores the setting of a ring's clock.
  package mutating func remember(_ clock: ClockRecord, of peer: PeerIdentity) {
    var ring = rings.first { $0.peer == peer } ?? KnownRing(name: nil, peer: peer, layout: nil)
    ring.clock = clock
    remember(ring)
  }

  /// Changes the rings and the file, which another process may have changed in between.
  private mutating func change(_ body: (inout [KnownRing]) -> Void) {
    var changed: [KnownRing]?
    do throws(VersionedFileError) {
      try file?.update(report) { rings in
        let before = rings
        body(&rings)
        changed = rings
        return rings != before
      }
    } catch {
      if error.isToBeReported { report("cannot store what is new about the ring: \(error)") }
    }
    // Changes that cannot be stored count for this run.
    if let changed { rings = changed } else { body(&rings) }
  }
}
