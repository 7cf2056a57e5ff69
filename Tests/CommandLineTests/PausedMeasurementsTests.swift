import BluetoothCore
import EventLoop
import Glibc
import RingLink
import TestSupport
import Testing

@testable import halo_raw

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

  @Test func whatWasLeftBehindIsClaimedOnce() throws {
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
  ])
  func aDamagedFileIsDropped(text: String) throws {
    try withFolder { folder in
      let first = PausedMeasurements(folder: folder)
      #expect(first.keep(saved, of: ring))
      let path = folder + "/" + (try #require(SmallFile.names(in: folder).first))
      first.release(ring)
      let descriptor = open(path, O_WRONLY | O_TRUNC)
      #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
      close(descriptor)
      #expect(first.claim(of: ring) == nil)
      #expect(!first.isKept(for: ring))
    }
  }

  @Test func aFolderThatCannotBeIsTold() {
    #expect(!PausedMeasurements(folder: "/dev/null/paused").keep(saved, of: ring))
    #expect(PausedMeasurements(folder: nil).keep(saved, of: ring), "a simulated ring needs none")
  }
}
