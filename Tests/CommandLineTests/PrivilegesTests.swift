import EventLoop
import Glibc
import TestSupport
import Testing

@testable import halo_raw

@Suite struct PrivilegesTests {
  @Test func capabilitiesAreSpelledAsSetcapDoes() {
    #expect("\(Capabilities.useful)" == "cap_net_raw,cap_net_admin")
    #expect("\(Capabilities(rawValue: 1 << 13 | 1 << 40))" == "cap_net_raw,40")
    #expect("\(Capabilities())" == "")
  }

  @Test func theyAreReadFromTheTextOfStatus() {
    let status =
      "Name:\thalo-raw\nCapInh:\t0000000000000000\nCapPrm:\t0000000000003000\nCapEff:\t0000000000002000\n"
    #expect(
      ThreadCapabilities(procStatus: status)
        == ThreadCapabilities(permitted: [.netRaw, .netAdmin], effective: .netRaw))
    for damaged in ["", "CapPrm:\t0\n", "CapPrm:\tx\nCapEff:\t0\n", "CapPrm:\nCapEff:\n"] {
      #expect(ThreadCapabilities(procStatus: damaged) == nil)
    }
  }

  @Test func theKernelAndItsTextSayTheSame() throws {
    // Of one thread: a suspension between the two might change it.
    let current = try ThreadCapabilities.current()
    let status = try #require(SmallFile.text("/proc/thread-self/status"))
    #expect(ThreadCapabilities(procStatus: status) == current)
  }

  @Test(arguments: [
    ("1000", "1000", true), ("1000", "0", true), ("0", "0", false), ("", "1000", false), ("1000", "", false),
    ("-1", "1000", false), ("4294967295", "1000", false), ("1000", "4294967295", false),
    ("1000x", "1000", false), ("4294968296", "1000", false),
  ])
  func sudoNamesTheUser(user: String, group: String, isTaken: Bool) {
    #expect((InvokingUser.ids(user: user, group: group) != nil) == isTaken)
  }

  @Test func withoutSudoThereIsNoInvokingUser() {
    #expect(InvokingUser.ids(user: nil, group: "1000") == nil)
    #expect(InvokingUser.ids(user: "1000", group: nil) == nil)
  }

  @Test func onlyTheRawSocketNeedsACapabilityLater() {
    #expect(Privileges.Way.rawSocket.needs == .netRaw)
    #expect(Privileges.Way.other.needs == [])
  }

  @Test func aFileWithoutCapabilitiesGrantsNone() {
    #expect(Capabilities.granted(byFile: "/proc/self/exe") == [])
    #expect(Capabilities.granted(byFile: "/nowhere") == nil)
  }

  @Test func socketNumbersAreReadFromTheKernelsTable() {
    let table = """
      sk               RefCnt Rmem   Wmem   User   Inode  Parent
      0000000000000000 2      0      0      0      15360  0
      0000000000000000 2      0      0      1000   99     0
      short line
      """
    #expect(Processes.socketNumbers(inTable: table) == [15360, 99])
    #expect(Processes.socketNumbers(inTable: "") == [])
  }

  @Test func switchesAndInterfacesAreFoundInTheKernelsFolders() throws {
    let folder = try Folder()
    defer { folder.remove() }
    folder.write("rfkill0/type", "wlan\n")
    folder.write("rfkill0/soft", "1\n")
    folder.write("rfkill1/type", "bluetooth\n")
    folder.write("rfkill1/name", "hci0\n")
    folder.write("rfkill1/soft", "1\n")
    folder.write("rfkill1/hard", "0\n")
    #expect(
      SystemState.radioSwitches(in: folder.path)
        == [.init(name: "hci0", isSoftBlocked: true, isHardBlocked: false)])
    #expect(SystemState.radioSwitches(in: "/nowhere") == [])
    folder.write("eth0/operstate", "up\n")
    folder.write("wlan0/operstate", "up\n")
    folder.write("wlan0/wireless/x", "")
    folder.write("wlan1/operstate", "down\n")
    folder.write("wlan1/wireless/x", "")
    #expect(SystemState.wifiInUse(in: folder.path) == ["wlan0"])
  }
}

/// A folder that is made for a test.
private struct Folder {
  let path: String

  init() throws {
    var template = Array("/tmp/halo-raw-test.XXXXXX".utf8CString)
    _ = try #require(mkdtemp(&template))
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func write(_ name: String, _ text: String) {
    var folder = path
    for part in name.split(separator: "/").dropLast() {
      folder += "/\(part)"
      mkdir(folder, 0o700)
    }
    guard let file = fopen("\(path)/\(name)", "w") else { return }
    fputs(text, file)
    fclose(file)
  }

  func remove() { Self.remove(path) }

  private static func remove(_ path: String) {
    for name in SmallFile.names(in: path) { remove("\(path)/\(name)") }
    Glibc.remove(path)
  }
}
