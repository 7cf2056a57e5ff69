import Glibc
import HCI
import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// The record of an adapter that was up when it was taken: it is brought up if the program that took it was killed, and
/// only then.
@BluetoothActor
@Suite(.onTheLoop) struct TakenAdapterTests {
  private let folder: Folder
  private let index = AdapterIndex(rawValue: 3)
  private let address = BluetoothAddress(0x001A_7DDA_7113, .public)

  init() throws {
    folder = try Folder()
  }

  private var path: String { "\(folder.path)/taken-hci3" }

  private func device(_ address: BluetoothAddress) -> HCIDevices.Device {
    HCIDevices.Device(index: index, address: address, isUp: false, isStarting: false)
  }

  /// Leaves a record, as a program does that is killed: its lock ends with it.
  private func leave(boot: String = TakenAdapter.bootID) {
    folder.write("taken-hci3", TakenAdapter.text(boot: boot, address: address))
  }

  /// - Returns: whether it was restored, and the adapters that were brought up
  private func restore(
    _ address: BluetoothAddress? = nil, failing: StackError? = nil
  ) -> (isUp: Bool, broughtUp: [UInt16]) {
    var broughtUp: [UInt16] = []
    let isUp = TakenAdapter.restoreLeftover(path, device(address ?? self.address)) {
      (index) throws(StackError) in
      broughtUp.append(index.rawValue)
      if let failing { throw failing }
    }
    return (isUp, broughtUp)
  }

  private var exists: Bool { access(path, F_OK) == 0 }

  @Test func theAdapterOfAProgramThatWasKilledIsBroughtUp() {
    leave()
    #expect(restore() == (true, [3]))
    // Once.
    #expect(!exists)
    #expect(restore() == (false, []))
    folder.remove()
  }

  /// An adapter that cannot be brought up now may be later.
  @Test func aRecordStaysUntilTheAdapterIsUp() {
    leave()
    let error = StackError("bring hci3 up", .radioBlocked)
    #expect(restore(failing: error) == (false, [3]))
    #expect(exists)
    #expect(restore() == (true, [3]))
    folder.remove()
  }

  /// The state of an adapter ends with the boot, and its number may be another adapter's.
  @Test func aRecordOfAnotherBootOrAdapterIsDeleted() {
    leave(boot: "b0a7")
    #expect(restore() == (false, []) && !exists)
    leave()
    #expect(restore(BluetoothAddress(0x0002_0304_0506, .public)) == (false, []) && !exists)
    folder.remove()
  }

  @Test func aRunningProgramKeepsItsAdapter() throws {
    let taken = try TakenAdapter(index, address: address, in: [folder.path])
    #expect(folder.text(of: "taken-hci3") == TakenAdapter.text(boot: TakenAdapter.bootID, address: address))
    #expect(folder.mode(of: "taken-hci3") == 0o600)
    #expect(restore() == (false, []) && exists)
    taken.forget()
    #expect(!exists)
    taken.forget()
    folder.remove()
  }

  /// The next run brings up what this one could not.
  @Test func aRecordIsLeftToTheNextRun() throws {
    let taken = try TakenAdapter(index, address: address, in: [folder.path])
    taken.leave()
    taken.forget()
    #expect(exists)
    #expect(restore() == (true, [3]) && !exists)
    folder.remove()
  }

  /// Its file is locked until it is forgotten, and no longer: another name of the file shows it.
  @Test func aRecordIsLockedUntilItIsForgotten() throws {
    let taken = try TakenAdapter(index, address: address, in: [folder.path])
    #expect(link(path, "\(folder.path)/other") == 0)
    let other = open("\(folder.path)/other", O_RDWR)
    #expect(flock(other, LOCK_EX | LOCK_NB) != 0)
    taken.forget()
    #expect(flock(other, LOCK_EX | LOCK_NB) == 0 && folder.text(of: "other") == "")
    close(other)
    folder.remove()
  }

  /// Nothing else is left there, and the next folder is used if the first one is no folder.
  @Test func theFirstFolderThatCanBeWrittenHasTheRecord() throws {
    folder.write("file", "")
    let taken = try TakenAdapter(index, address: address, in: ["\(folder.path)/file", "\(folder.path)/made"])
    #expect(folder.names(in: "made") == ["taken-hci3"])
    taken.forget()
    #expect(folder.names(in: "made") == [])
    #expect(throws: StackError.self) {
      try TakenAdapter(index, address: address, in: ["\(folder.path)/file"])
    }
    // Without a folder, nothing is written.
    try TakenAdapter(index, address: address, in: []).forget()
    folder.remove()
  }

  /// A folder that others may write is no place to be led from: a link to a file, and a file with two names, are left alone.
  @Test func onlyAnOrdinaryFileIsARecord() {
    folder.write("other", TakenAdapter.text(boot: TakenAdapter.bootID, address: address))
    symlink("\(folder.path)/other", path)
    #expect(restore() == (false, []))
    unlink(path)
    link("\(folder.path)/other", path)
    #expect(restore() == (false, []))
    #expect(folder.text(of: "other")?.isEmpty == false)
    unlink(path)
    mkfifo(path, 0o600)
    #expect(restore() == (false, []))
    folder.remove()
  }
}
