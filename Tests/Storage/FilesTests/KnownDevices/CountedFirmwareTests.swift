import Glibc
import HaloStorage
import TestSupport
import Testing

@Suite struct CountedFirmwareTests {
  @Test func answersAreKept() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/streams.json"
    let firmware = CountedFirmware(path: path) { Issue.record("\($0)") }
    #expect(firmware.answers("RT02_1") == nil)
    firmware.remember("RT02_1", answers: true)
    firmware.remember("RY03_2", answers: false)
    firmware.remember("RT02_1", answers: true)
    let again = CountedFirmware(path: path) { Issue.record("\($0)") }
    #expect(again.answers("RT02_1") == true && again.answers("RY03_2") == false)
    // An update of the program may change its mind.
    again.remember("RT02_1", answers: false)
    #expect(firmware.answers("RT02_1") == false)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  /// A peer chooses the name: it is neither stored at any length nor in any number.
  @Test func theFileStaysSmall() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/streams.json"
    let firmware = CountedFirmware(path: path) { Issue.record("\($0)") }
    firmware.remember(String(repeating: "x", count: 65), answers: true)
    #expect(access(path, F_OK) != 0)
    for number in 0...CountedFirmware.limit { firmware.remember("\(number)", answers: true) }
    #expect(firmware.answers("0") == nil && firmware.answers("1") == true)
    #expect(firmware.answers("\(CountedFirmware.limit)") == true)
  }

  @Test func storesNothingWithoutPath() {
    let firmware = CountedFirmware(path: nil) { Issue.record("\($0)") }
    firmware.remember("RT02_1", answers: true)
    #expect(firmware.answers("RT02_1") == nil)
  }
}
