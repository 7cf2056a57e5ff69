import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem

/// The bonds of a user, for the links of a program. A change is seen in ``bonds`` at once, and is written on another
/// thread: an SD card takes some time for that, in which no link could be served.
@BluetoothActor
package final class UserBonds: BondStore {
  private let path: String
  private let file: BondFile
  /// How long a change of the file may take, which waits two seconds for other programs.
  private static let deadline = Duration.seconds(10)
  /// What is not written yet, the oldest first.
  private var unwritten: [BondChange] = []
  /// The last change of the file, which ends after all others.
  private var writing: Task<Void, Never>?

  /// Does not touch the file.
  ///
  /// - Parameter path: the file; it may be missing
  package init(path: String) {
    self.path = path
    file = BondFile(path: path)
  }

  package var bonds: [Bond] {
    let written = file.bonds
    if unwritten.isEmpty { return written }
    return unwritten.reduce(into: written) { bonds, change in _ = try? change.make(in: &bonds) }
  }

  package func check() throws(BondStoreError) { _ = try file.load() }

  package func make(_ change: BondChange, completion: @escaping (Result<Bond?, BondStoreError>) -> Void) {
    unwritten.append(change)
    writing = BluetoothActor.run { [path, previous = writing] in
      await previous?.value
      let written = await offTheLoop(deadline: Self.deadline) { Self.write(change, path) }
      self.unwritten.removeFirst()
      completion(written ?? .failure(.isTooSlow(change.peer)))
    }
  }

  private nonisolated static func write(_ change: BondChange, _ path: String) -> Result<Bond?, BondStoreError>
  {
    do throws(BondStoreError) {
      return .success(try BondFile(path: path).make(change))
    } catch {
      return .failure(error)
    }
  }

  package func finish() async { await writing?.value }
}

extension BondStoreError {
  fileprivate static func isTooSlow(_ peer: BluetoothAddress) -> BondStoreError {
    BondStoreError("cannot store the bond with \(peer): the disk takes too long")
  }
}
