import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem

/// The bonds of a user, for the links of a program. What is stored is among ``bonds`` at once, and is written on another
/// thread: an SD card takes some time for that, in which no link could be served.
@BluetoothActor
package final class UserBonds: BondStore {
  private let path: String
  private let file: BondFile
  private let report: (String) -> Void
  /// How long a change of the file may take, which waits two seconds for other programs.
  private static let deadline = Duration.seconds(10)
  /// What is not written yet, the oldest first.
  private var unwritten: [Bond] = []
  /// The last change of the file, which ends after all others.
  private var writing: Task<Void, Never>?

  /// Does not touch the file.
  ///
  /// - Parameters:
  ///   - path: the file; it may be missing
  ///   - report: takes messages for the user
  package init(path: String, report: @escaping (String) -> Void) {
    self.path = path
    self.report = report
    file = BondFile(path: path, report: report)
  }

  package var bonds: [Bond] {
    let written = file.bonds
    if unwritten.isEmpty { return written }
    return unwritten.reduce(into: written) { bonds, bond in
      bonds.removeAll { $0.isInPlace(of: bond) }
      bonds.append(bond)
    }
  }

  package func store(_ bond: Bond, completion: @escaping (BondStoreError?) -> Void) {
    unwritten.append(bond)
    writing = BluetoothActor.run { [path, previous = writing] in
      await previous?.value
      let written = await offTheLoop(deadline: Self.deadline) { Self.write(bond, path) }
      let outcome = written ?? (.isTooSlow(bond.peer), [])
      self.unwritten.removeFirst()
      for message in outcome.messages { self.report(message) }
      completion(outcome.error)
    }
  }

  private nonisolated static func write(
    _ bond: Bond, _ path: String
  ) -> (error: BondStoreError?, messages: [String]) {
    var messages: [String] = []
    do throws(BondStoreError) {
      try BondFile(path: path) { messages.append($0) }.store(bond)
      return (nil, messages)
    } catch {
      return (error, messages)
    }
  }

  package func finish() async { await writing?.value }
}

extension BondStoreError {
  fileprivate static func isTooSlow(_ peer: BluetoothAddress) -> BondStoreError {
    BondStoreError("cannot store the bond with \(peer): the disk takes too long")
  }
}
