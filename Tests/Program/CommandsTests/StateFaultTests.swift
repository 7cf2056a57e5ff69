import Glibc
import HaloBluetoothCore
import HaloSystem
import HaloStorage
import HaloRingStore
import RingLink
import TestLoop
import TestSupport
import Testing
@testable import HaloViews
@testable import HaloCommandLine
@testable import HaloCommands

/// What the program keeps, with system calls that fail: nothing traps, nothing leaks, the old file is whole, and what is
/// reported names the file and what to do.
@BluetoothActor
@Suite(.onTheLoop) struct StateFaultTests {
  private nonisolated static let calls: [SystemCall] = [
    .open, .status, .lock, .makeFolder, .setMode, .write, .read, .synchronize, .rename,
  ]
  private nonisolated static let codes = [EMFILE, ENFILE, EACCES, EIO, ENOSPC, EROFS]
  private let ring = BluetoothAddress(0xC011_2233_A1B2, .random)

  private func text(_ path: String) -> String? { SmallFile.text(path) }

  /// Runs `work` with its first call of a kind failing, its second, and so on, as long as it makes so many.
  private func sweep(_ call: SystemCall, _ code: Int32, _ work: () throws -> Void) rethrows {
    for number in 1... {
      let script = FaultScript([call], number: number, fails: code)
      try FaultPlan.during(script) { try work() }
      #expect(script.openCount == 0, "\(call) \(number) \(code) leaks")
      guard script.isUsedUp else { return }
    }
  }

  @Test(arguments: calls, codes) func knownRingsAreWholeWhateverFails(_ call: SystemCall, _ code: Int32)
    throws
  {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/state/rings.json"
    var lines: [String] = []
    var known = KnownRings(path: path)
    known.remember(KnownRing(name: "R02_0000", peer: PeerIdentity(ring), layout: nil))
    var name = 0
    sweep(call, code) {
      name += 1
      var known = KnownRings(path: path) { lines.append($0) }
      known.remember(KnownRing(name: "R02_\(name)", peer: PeerIdentity(ring), layout: nil))
      // This process goes on with what it knows.
      #expect(known.rings.map(\.name) == ["R02_\(name)"])
    }
    let names = KnownRings(path: path) { Issue.record("\($0)") }.rings.map(\.name)
    #expect(names.count == 1 && names[0]?.hasPrefix("R02_") == true)
    #expect(Set(SmallFile.names(in: folder.path + "/state")) == ["rings.json", "rings.json.lock"])
    for line in lines { #expect(line.contains(path) || line.contains(folder.path + "/state"), "\(line)") }
  }

  @Test(arguments: calls, codes) func keepsPausedMeasurementsOrReportsFailure(
    _ call: SystemCall, _ code: Int32
  ) throws {
    let folder = try Folder()
    defer { folder.remove() }
    let saved = SavedMeasurements(["spo2": ["enabled": 1]])
    sweep(call, code) {
      let paused = PausedMeasurements(folder: folder.path + "/paused") { #expect($0.contains(folder.path)) }
      guard paused.keep(saved, of: ring) else { return }
      paused.release(ring)
      guard let claimed = paused.claim(of: ring) else { return }
      #expect(claimed == saved)
      paused.release(ring)
    }
    let next = PausedMeasurements(folder: folder.path + "/paused") { Issue.record("\($0)") }
    if next.isKept(for: ring) { #expect(next.claim(of: ring) == saved) }
  }

  @Test(arguments: calls, codes) func failedExportKeepsOldFile(
    _ call: SystemCall, _ code: Int32
  ) async throws {
    let folder = try Folder()
    defer { folder.remove() }
    folder.write("ring.json", "precious")
    let path = folder.path + "/ring.json"
    let settings = SettingsFile([], of: RingFirmware(firmwareRevision: "x", hardwareRevision: "y"))
    for number in 1... {
      let script = FaultScript([call], number: number, fails: code)
      do {
        try await FaultPlan.during(script) { try await settings.write(to: path) }
        #expect(text(path)?.contains("halo-raw settings") == true)
        folder.write("ring.json", "precious")
      } catch let failure as Failure {
        #expect(text(path) == "precious")
        #expect(failure.message.contains("cannot write \(path): \(SystemError.text(code))"), "\(failure)")
      }
      #expect(script.openCount == 0)
      #expect(SmallFile.names(in: folder.path) == ["ring.json"])
      guard script.isUsedUp else { break }
    }
  }

  @Test(arguments: codes) func reportsStoreOpenFailure(_ code: Int32) throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/rings.sqlite"
    for number in 1...2 {
      let script = FaultScript([.open], number: number, fails: code)
      #expect(throws: StoreError.file(FileError(path, .system(code)))) {
        _ = try FaultPlan.during(script) { () throws(StoreError) in try RingStore(path: path) }
      }
      #expect(script.openCount == 0)
      #expect(SmallFile.names(in: folder.path) == [])
    }
    #expect(Failure(StoreError.file(FileError(path, .system(code)))).message.contains(SystemError.text(code)))
    _ = try RingStore(path: path)
  }
}
