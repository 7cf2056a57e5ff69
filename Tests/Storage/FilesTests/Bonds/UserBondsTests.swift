import HCI
import HaloBluetoothCore
import HaloSecurityManager
import HaloStorage
import HaloSystem
import TestSupport
import Testing

/// Bonds that are written on another thread.
@BluetoothActor @Suite struct UserBondsTests {
  private let folder: Folder
  private var path: String { folder.path + "/bonds.json" }

  init() throws { folder = try Folder() }

  private static func bond(_ number: UInt64) -> Bond {
    var bond = Bond(
      peer: BluetoothAddress(0xC000_0000_0000 + number, .random), own: BluetoothAddress(1, .public),
      isSecureConnections: true)
    bond.keyAsCentral = LongTermKey([UInt8](repeating: 7, count: 16))
    return bond
  }

  /// All of them are there at once, in their order, and in the file at the end, in which others write, too.
  @Test func bondsAreThereBeforeTheyAreWritten() async throws {
    defer { folder.remove() }
    let bonds = UserBonds(path: path)
    var written: [Int] = []
    for number in 1...5 {
      bonds.make(.store(Self.bond(UInt64(number)))) { result in
        #expect(result == .success(nil))
        written.append(number)
      }
    }
    var changed = Self.bond(2)
    changed.name = "changed"
    bonds.make(.store(changed)) { _ in written.append(6) }
    #expect(
      bonds.bonds == [Self.bond(1), Self.bond(3), Self.bond(4), Self.bond(5), changed] && written == [])
    try BondFile(path: path).make(.store(Self.bond(9)))
    await bonds.finish()
    #expect(written == [1, 2, 3, 4, 5, 6])
    let others = BondFile(path: path)
    #expect(others.bonds == bonds.bonds && bonds.bonds.count == 6)
  }

  /// It was never kept, and is not used any longer.
  @Test func bondThatCannotBeWrittenIsGone() async throws {
    defer { folder.remove() }
    // A file is where a folder should be.
    try BondFile(path: path).make(.store(Self.bond(2)))
    let bonds = UserBonds(path: path + "/bonds.json")
    var reason: BondStoreError?
    bonds.make(.store(Self.bond(1))) { if case .failure(let error) = $0 { reason = error } }
    #expect(bonds.bonds.count == 1)
    await bonds.finish()
    #expect(reason != nil && bonds.bonds == [])
  }
}
