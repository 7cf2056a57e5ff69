import Glibc
import HaloBluetoothCore
import HaloSystem
import RingLink
import TestSupport
import Testing

@testable import HaloViews
@testable import HaloCommandLine
@testable import HaloCommands

/// Two instances stand for two programs: the lock is the kernel's.
@BluetoothActor
struct PausedMeasurementsTests {
  private let ring = BluetoothAddress(0xC011_2233_A1B2, .random)
  private let saved = SavedMeasurements([
    "spo2": ["enabled": 1], "heart-rate": ["enabled": 1, "interval": 10],
  ])

  private func withFolder(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/halo-raw-test-XXXXXX".utf8CString)
    let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
    try body(folder + "/state/paused")
    for name in SmallFile.names(in: folder + "/state/paused") { unlink("\(folder)/state/paused/\(name)") }
    for part in ["/state/paused", "/state", ""] { rmdir(folder + part) }
  }

  @Test func claimsAbandonedMeasurementsOnce() throws {
    try withFolder { folder in
      let first = PausedMeasurements(folder: folder)
      #expect(first.keep(saved, of: ring))
      #expect(first.isKept(for: ring))
      let second = PausedMeasurements(folder: folder)
      #expect(second.claim(of: ring) == nil, "the one who has paused them still runs")
      first.release(ring)
      #expect(second.claim(of: BluetoothAddress(1, .random)) == nil)
      #expect(second.claim(of: ring) == saved)
      #expect(PausedMeasurements(folder: folder).claim(of: ring) == nil)
      second.drop(of: ring)
      #expect(!first.isKept(for: ring))
      #expect(SmallFile.names(in: folder).isEmpty)
      #expect(PausedMeasurements(folder: folder).claim(of: ring) == nil)
    }
  }

  @Test(arguments: [
    "", "{", "[]", "{\"ring\":1}", "{\"ring\":\"x\",\"settings\":{\"spo2\":{\"enabled\":\"on\"}}}",
    "{\"ring\":\"x\",\"settings\":{\"spo2\":{\"enabled\":9223372036854775808}}}",
    String(repeating: " ", count: 70_000),
    "{\"ring\":\"x\",\"settings\":{" + (0...64).map { "\"\($0)\":{}" }.joined(separator: ",") + "}}",
  ])
  func aDamagedFileIsKeptBeside(text: String) throws {
    try withFolder { folder in
      let first = PausedMeasurements(folder: folder)
      #expect(first.keep(saved, of: ring))
      let path = folder + "/" + (try #require(SmallFile.names(in: folder).first))
      first.drop(of: ring)
      let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
      #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
      close(descriptor)
      var lines: [String] = []
      let next = PausedMeasurements(folder: folder) { lines.append($0) }
      #expect(next.claim(of: ring) == nil)
      #expect(!next.isKept(for: ring))
      #expect(lines.count == 1 && lines[0].hasSuffix("the file is now \(path).damaged"))
      #expect(
        SmallFile.names(in: folder) == [SmallFile.names(in: folder).first { $0.hasSuffix(".json.damaged") }])
    }
  }

  /// The ring's measurements are restored by who has the lock, once: another that waited for it finds nothing.
  @Test func lockHolderKeepsPausedMeasurements() throws {
    try withFolder { folder in
      let first = PausedMeasurements(folder: folder)
      #expect(first.keep(saved, of: ring))
      let second = PausedMeasurements(folder: folder)
      #expect(!second.keep(SavedMeasurements(["spo2": ["enabled": 1]]), of: ring))
      first.release(ring)
      #expect(second.claim(of: ring) == saved)
      var status = stat()
      for name in SmallFile.names(in: folder) {
        #expect(stat("\(folder)/\(name)", &status) == 0 && status.st_mode & 0o777 == 0o600)
      }
    }
  }

  @Test func reportsUncreatableFolder() {
    #expect(!PausedMeasurements(folder: "/dev/null/paused").keep(saved, of: ring))
    #expect(PausedMeasurements(folder: nil).keep(saved, of: ring), "a simulated ring needs none")
  }
}
