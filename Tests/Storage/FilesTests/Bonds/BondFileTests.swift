import Glibc
import HCI
import HaloBluetoothCore
import HaloSecurityManager
import HaloStorage
import HaloSystem
import TestSupport
import Testing

@Suite struct BondFileTests {
  private let folder: Folder
  private var path: String { folder.path + "/state/bonds.json" }

  init() throws { folder = try Folder() }

  private static let own = BluetoothAddress(0x001A_7DDA_7113, .public)
  private static let ring = BluetoothAddress(0xC011_2233_A1B2, .random)

  /// Everything that a bond can have, at the ends of its range.
  private static var full: Bond {
    var bond = Bond(peer: ring, own: own, isSecureConnections: false)
    bond.name = "R02 \"Ännchen\"\u{1}"
    bond.identityResolvingKey = Array(0..<16)
    bond.ownIdentityResolvingKey = Array(48..<64)
    bond.keyAsCentral = LongTermKey(
      Array(repeating: 0xFF, count: 16), random: .max, diversifier: .max, isAuthenticated: true, size: 16)
    bond.keyAsPeripheral = LongTermKey(
      Array(repeating: 0, count: 16), random: 0, diversifier: 0, isAuthenticated: false, size: 7)
    bond.peerSigning = Bond.SigningKey(key: Array(16..<32), counter: .max)
    bond.ownSigning = Bond.SigningKey(key: Array(32..<48), counter: 0)
    return bond
  }

  private static func bond(_ number: Int, own: BluetoothAddress = own) -> Bond {
    var bond = Bond(
      peer: BluetoothAddress(0xC000_0000_0000 | UInt64(number), .random), own: own, isSecureConnections: true)
    bond.keyAsCentral = LongTermKey(Array(repeating: UInt8(truncatingIfNeeded: number), count: 16))
    bond.keyAsPeripheral = bond.keyAsCentral
    return bond
  }

  private func file() -> BondFile { BondFile(path: path) }

  /// Why the file can't be read.
  private var fault: BondStoreError? {
    do throws(BondStoreError) { _ = try file().load() } catch { return error }
    return nil
  }

  private func reason(_ work: () throws(BondStoreError) -> Void) -> String? {
    do throws(BondStoreError) { try work() } catch { return error.description }
    return nil
  }

  // MARK: Keeping

  @Test func whatIsStoredIsReadByTheNextRun() throws {
    defer { folder.remove() }
    let empty = Bond(peer: Self.own, own: Self.ring, isSecureConnections: true)
    let first = file()
    #expect(first.bonds.isEmpty)
    try first.make(.store(Self.full))
    try first.make(.store(empty))
    #expect(first.bonds == [Self.full, empty])
    #expect(file().bonds == [Self.full, empty])
    #expect(folder.mode(of: "state") == 0o700 && folder.mode(of: "state/bonds.json") == 0o600)
  }

  @Test func aBondIsReplacedByTheNextWithTheSameAdapter() throws {
    defer { folder.remove() }
    let other = BluetoothAddress(1, .public)
    for bond in [Self.bond(1), Self.bond(2), Self.bond(1, own: other)] { try file().make(.store(bond)) }
    var new = Self.bond(1)
    new.name = "new"
    try file().make(.store(new))
    #expect(file().bonds == [Self.bond(2), Self.bond(1, own: other), new])
    // A device is forgotten with all adapters.
    try file().remove(new.peer)
    #expect(file().bonds == [Self.bond(2)])
    try file().remove(new.peer)
    #expect(file().bonds == [Self.bond(2)])
  }

  /// A command pairs while a stream runs: each sees what the other one has done, and none undoes it.
  @Test func twoProgramsShareTheFile() throws {
    defer { folder.remove() }
    let (stream, command) = (file(), file())
    #expect(stream.bonds.isEmpty)
    try command.make(.store(Self.bond(1)))
    #expect(stream.bonds == [Self.bond(1)])
    try stream.make(.store(Self.bond(2)))
    try command.make(.store(Self.bond(3)))
    #expect(stream.bonds == [Self.bond(1), Self.bond(2), Self.bond(3)])
    try stream.remove(Self.bond(1).peer)
    #expect(command.bonds == [Self.bond(2), Self.bond(3)])
    unlink(path)
    #expect(stream.bonds.isEmpty && command.bonds.isEmpty)
  }

  @Test func anUnchangedFileIsNotReadAgain() throws {
    defer { folder.remove() }
    try file().make(.store(Self.bond(1)))
    let bonds = file()
    #expect(bonds.bonds.count == 1)
    let failing = FaultScript([.open], number: 1, fails: EIO)
    #expect(FaultPlan.during(failing) { bonds.bonds.count } == 1)
    #expect(!failing.isUsedUp)
  }

  /// A program reads the file once when it starts.
  @Test func aFileThatWasLoadedIsNotReadAgain() throws {
    defer { folder.remove() }
    try file().make(.store(Self.bond(1)))
    let bonds = file()
    #expect(try bonds.load().count == 1)
    let failing = FaultScript([.open], number: 1, fails: EIO)
    #expect(FaultPlan.during(failing) { bonds.bonds.count } == 1)
    #expect(!failing.isUsedUp)
  }

  @Test func noMoreThanTheMostAreTaken() throws {
    defer { folder.remove() }
    let bonds = file()
    let most = (0..<BondFile.limit).map { number in
      var bond = Self.full
      bond.peer = BluetoothAddress(0xC000_0000_0001 + UInt64(number), .random)
      // The longest text that a name can be in JSON.
      bond.name = String(repeating: "\u{1}", count: 400)
      return bond
    }
    #expect(try bonds.add(most).added.count == most.count)
    #expect(bonds.bonds.count == BondFile.limit)
    #expect(bonds.bonds[0].name?.utf8.count == Bond.longestName)
    let full = try #require(reason { () throws(BondStoreError) in try bonds.make(.store(Self.bond(1000))) })
    #expect(full.contains("256") && full.contains("halo-raw bonds forget"))
    // One that is there may change, and one that goes makes room.
    var again = Self.full
    again.peer = bonds.bonds[7].peer
    try bonds.make(.store(again))
    try bonds.remove(again.peer)
    try bonds.make(.store(Self.bond(1000)))
    #expect(bonds.bonds.count == BondFile.limit && bonds.bonds.last == Self.bond(1000))
  }

  /// Passers-by pair with a server, each from another address.
  @Test func devicesThatNobodyCheckedLeaveRoom() throws {
    defer { folder.remove() }
    let strangers = (1...BondFile.limit).map { number in
      var bond = Self.bond(number)
      bond.keyAsCentral = nil
      return bond
    }
    let (added, _, refused) = try file().add(strangers)
    #expect(added.count == BondFile.uncheckedLimit && refused.count == strangers.count - added.count)
    #expect(
      reason { () throws(BondStoreError) in try file().make(.store(strangers[200])) }?.contains("192") == true
    )
    try file().make(.store(Self.full))
    #expect(file().bonds.last == Self.full)
  }

  /// The disk with the file is not there.
  @Test func aLinkThatLeadsNowhereIsNoMissingFile() throws {
    defer { folder.remove() }
    mkdir(folder.path + "/state", 0o700)
    symlink(folder.path + "/elsewhere/bonds.json", path)
    #expect(fault?.description.contains(path) == true)
  }

  @Test func aBondThatCannotBeReadAgainIsNotStored() throws {
    defer { folder.remove() }
    try file().make(.store(Self.full))
    var short = Self.bond(1)
    short.identityResolvingKey = [1, 2, 3]
    var weak = Self.bond(1)
    weak.keyAsCentral?.size = 6
    let unknown = Bond(peer: BluetoothAddress(1, .anonymous), own: Self.own, isSecureConnections: true)
    for bond in [short, weak, unknown] {
      #expect(reason { () throws(BondStoreError) in try file().make(.store(bond)) } != nil)
    }
    #expect(file().bonds == [Self.full])
  }

  /// Two programs sign writes to one device: each counter is for one of them.
  @Test func aChangeIsMadeToWhatTheFileHasThen() throws {
    defer { folder.remove() }
    try file().make(.store(Self.full))
    let reserve = BondChange.update(Self.full) { _ = $0.ownSigning?.reserve() }
    let counters = try (0..<3).map { _ in try file().make(reserve)?.ownSigning?.counter }
    #expect(counters == [0, 100, 200])
    #expect(file().bonds[0].ownSigning?.counter == 300)
    // A bond that was forgotten does not come back.
    try file().remove(Self.full.peer)
    #expect(try file().make(reserve) == nil)
    #expect(file().bonds == [])
  }

  /// A device pairs with a server, unchecked, while the user pairs with the device that it says it is: the user's bond stays.
  @Test func anUncheckedBondDoesNotReplaceOneThatTheUserHasMadeMeanwhile() throws {
    defer { folder.remove() }
    var claim = Self.bond(1)
    claim.keyAsCentral = nil
    claim.keyAsPeripheral = LongTermKey(Array(repeating: 9, count: 16))
    try file().make(.store(Self.bond(1)))
    let reason = reason { () throws(BondStoreError) in try file().make(.store(claim)) }
    #expect(reason?.contains("was paired with by another program since then") == true)
    #expect(file().bonds == [Self.bond(1)])
    // Over the link of a bond, its device may pair anew. A change of counters or of a name makes no other bond of it.
    var known = Self.bond(1)
    known.name = "Strap"
    try file().make(.store(claim, inPlaceOf: known))
    #expect(file().bonds == [claim])
    try file().make(.store(Self.bond(1)))
    #expect(file().bonds == [Self.bond(1)])
  }

  /// What bluetoothd has may be older than what there is.
  @Test func addedBondsReplaceNone() throws {
    defer { folder.remove() }
    try file().make(.store(Self.full))
    var other = Self.full
    other.name = "other"
    let (added, present, refused) = try file().add([other, Self.bond(1), Self.bond(2), Self.bond(2)])
    #expect(added == [Self.bond(1), Self.bond(2)] && present == [other, Self.bond(2)] && refused.isEmpty)
    #expect(file().bonds == [Self.full, Self.bond(1), Self.bond(2)])
    #expect(try file().add([other]).added.isEmpty)
  }

  // MARK: What is in the file

  @Test(arguments: [
    "", "[", "{}", "[]", "null", "\0", "{\"version\": 1}", "{\"version\": 1, \"bonds\": {}}",
    "{\"version\": 1, \"bonds\": [1]}", String(repeating: "[", count: 100_000),
    #"{"version": 1, "bonds": [{"address": "12:34:56:78:9A:BC", "type": 1}]}"#,
  ]) func aDamagedFileIsAnErrorAndStays(_ text: String) throws {
    defer { folder.remove() }
    folder.write("state/bonds.json", text)
    let damage = try #require(fault)
    #expect(damage.isDamage && damage.description.contains("bonds.json is damaged"))
    #expect(reason { () throws(BondStoreError) in try file().make(.store(Self.full)) } != nil)
    #expect(Disk.bytes(of: path)?.count == text.utf8.count { $0 != 0 })
    #expect(folder.names(in: "state") == ["bonds.json", "bonds.json.lock"])
  }

  /// An editor has saved half of the file while a program runs.
  @Test func keepsTheLastBondsWhileTheFileIsDamaged() throws {
    defer { folder.remove() }
    try file().make(.store(Self.full))
    let bonds = file()
    #expect(bonds.bonds == [Self.full])
    folder.write("state/bonds.json", "{")
    #expect(bonds.bonds == [Self.full])
    unlink(path)
    #expect(bonds.bonds == [])
  }

  @Test func theFileOfANewerVersionIsNotChanged() throws {
    defer { folder.remove() }
    let newer = #"{"version": 2, "bonds": {}}"#
    folder.write("state/bonds.json", newer)
    let fault = try #require(fault)
    #expect(fault.isDamage && fault.description.contains("newer version"))
    #expect(
      reason { () throws(BondStoreError) in try file().make(.store(Self.full)) }?.contains("newer version")
        == true)
    #expect(folder.text(of: "state/bonds.json") == newer)
  }

  private static let hostile: [(String, JSONValue)] = [
    ("address", .string("C0:11:22:33:A1")), ("address", .integer(1)), ("address", .null),
    ("address", .string(String(repeating: "00:", count: 1000))), ("type", .integer(2)),
    ("type", .integer(255)),
    ("type", .integer(256)), ("type", .integer(-1)), ("type", .number(1e300)), ("type", .string("random")),
    ("ownAddress", .string("")), ("ownType", .integer(7)), ("secureConnections", .integer(1)),
    ("identityResolvingKey", .string("00")),
    ("identityResolvingKey", .string(String(repeating: "0", count: 33))),
    ("identityResolvingKey", .string(String(repeating: "g", count: 32))),
    ("identityResolvingKey", .array([])), ("ownIdentityResolvingKey", .string("00")),
    ("keyAsCentral", .array([])), ("keyAsCentral", .object([:])), ("keyAsCentral", .string("key")),
    ("keyAsPeripheral", .bool(false)), ("peerSigning", .object([:])), ("ownSigning", .integer(1)),
    ("name", .integer(1)), ("name", .string(String(repeating: "x", count: 249))),
  ]

  private static let hostileKeys: [(String, JSONValue)] = [
    ("key", .string("00")), ("key", .integer(.max)), ("key", .null), ("random", .integer(1)),
    ("random", .string("10000000000000000")), ("random", .string("-1")), ("random", .string("")),
    ("diversifier", .integer(65536)), ("diversifier", .integer(-1)), ("diversifier", .integer(.min)),
    ("authenticated", .integer(1)), ("size", .integer(6)), ("size", .integer(17)), ("size", .integer(.max)),
    ("size", .number(16.5)), ("counter", .integer(1 << 32)), ("counter", .integer(-1)), ("counter", .null),
  ]

  @Test func hostileValuesAreNoBond() throws {
    func members(_ value: JSONValue) throws -> [String: JSONValue] {
      guard case .object(let members) = value else { throw JSONError.wrongKind(path: []) }
      return members
    }
    let good = try members(Self.full.json)
    #expect(try Bond(.object(good)) == Self.full)
    for (name, value) in Self.hostile {
      var bad = good
      bad[name] = value
      #expect(throws: JSONError.self, "\(name) \(value)") { try Bond(.object(bad)) }
    }
    for key in ["keyAsCentral", "keyAsPeripheral", "peerSigning", "ownSigning"] {
      let goodKey = try members(try #require(good[key]))
      for (name, value) in Self.hostileKeys where goodKey[name] != nil {
        var (bad, badKey) = (good, goodKey)
        badKey[name] = value
        bad[key] = .object(badKey)
        #expect(throws: JSONError.self, "\(key) \(name) \(value)") { try Bond(.object(bad)) }
      }
    }
    for value in [JSONValue.null, .integer(1), .array([]), .object([:])] {
      #expect(throws: JSONError.self) { try Bond(value) }
    }
  }

  // MARK: The file itself

  /// Somebody has copied the file, and its mode was lost: the keys become secret again with the first reading.
  @Test(arguments: [0o644, 0o666, 0o640, 0o700] as [mode_t]) func othersLoseTheRightToReadIt(_ mode: mode_t)
    throws
  {
    defer { folder.remove() }
    try file().make(.store(Self.full))
    chmod(path, mode)
    #expect(file().bonds == [Self.full])
    #expect(folder.mode(of: "state/bonds.json").map { $0 & 0o077 } == 0)
    chmod(path, mode)
    try file().make(.store(Self.bond(1)))
    #expect(folder.mode(of: "state/bonds.json").map { $0 & 0o077 } == 0)
  }

  @Test func aLinkStaysALink() throws {
    defer { folder.remove() }
    try file().make(.store(Self.full))
    rename(path, folder.path + "/elsewhere.json")
    symlink(folder.path + "/elsewhere.json", path)
    #expect(file().bonds == [Self.full])
    try file().make(.store(Self.bond(1)))
    #expect(file().bonds == [Self.full, Self.bond(1)])
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(folder.mode(of: "elsewhere.json") == 0o600)
  }

  @Test(arguments: ["a folder", "a FIFO", "a link to /dev/zero", "a link to itself"])
  func whatIsNoFileIsNeitherReadNorReplaced(_ what: String) throws {
    defer { folder.remove() }
    mkdir(folder.path + "/state", 0o700)
    switch what {
    case "a folder": mkdir(path, 0o700)
    case "a FIFO": mkfifo(path, 0o600)
    case "a link to itself": symlink("bonds.json", path)
    default: symlink("/dev/zero", path)
    }
    let bonds = file()
    #expect(bonds.bonds.isEmpty)
    #expect(fault?.description.contains(path) == true)
    let reason = try #require(reason { () throws(BondStoreError) in try bonds.make(.store(Self.full)) })
    #expect(reason.contains(path) && reason.contains("\(Self.ring)"))
    #expect(folder.names(in: "state") == ["bonds.json", "bonds.json.lock"])
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
  func theFileOfAnotherUserIsNotUsed() throws {
    defer { folder.remove() }
    try file().make(.store(Self.full))
    chown(path, 65534, 65534)
    let bonds = file()
    #expect(bonds.bonds.isEmpty)
    #expect(fault?.description.contains("another user") == true)
    #expect(
      reason { () throws(BondStoreError) in try bonds.make(.store(Self.bond(1))) }?.contains("another user")
        == true)
  }

  /// A disk that fails loses no bond, and the reason names the file.
  @Test(arguments: [SystemCall.open, .status, .lock, .makeFolder, .write, .synchronize, .rename, .read])
  func aDiskThatFailsLosesNoBond(_ call: SystemCall) throws {
    defer { folder.remove() }
    try file().make(.store(Self.full))
    for number in 1..<20 {
      for code in [EIO, ENOSPC, EMFILE, EACCES, EROFS] {
        let bonds = file()
        #expect(bonds.bonds == [Self.full])
        let script = FaultScript([call], number: number, fails: code)
        let failure = FaultPlan.during(script) {
          reason { () throws(BondStoreError) in try bonds.make(.store(Self.bond(1))) }
        }
        #expect(
          bonds.bonds == (failure == nil ? [Self.full, Self.bond(1)] : [Self.full]), "\(number) \(code)")
        if let failure { #expect(failure.contains(folder.path) && failure.contains("\(Self.bond(1).peer)")) }
        #expect(file().bonds == bonds.bonds)
        try file().remove(Self.bond(1).peer)
      }
    }
    #expect(folder.names(in: "state") == ["bonds.json", "bonds.json.lock"])
  }
}
