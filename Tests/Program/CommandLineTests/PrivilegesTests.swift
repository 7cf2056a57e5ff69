import Glibc
import HCI
import HaloEventLoop
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

  /// What needs no privilege has given it up before it reads anything.
  @Test(
    arguments: [
      ("", .nothing), ("--help", .nothing), ("nonsense", .nothing), ("stream --help", .nothing),
      ("decode x", .nothing), ("export steps", .nothing), ("replay x stream", .nothing), ("forget", .nothing),
      ("history steps --stored", .nothing), ("history steps", .adapter),
      ("stream --adapter virtual", .nothing),
      ("stream --adapter replay:x", .nothing), ("stream --adapter nonsense", .nothing), ("stream", .adapter),
      ("stream --adapter hci1", .adapter), ("stream --adapter user:hci1", .adapter), ("doctor", .adapter),
      ("adapters up hci0", .adapter), ("record x", .adapter), ("stream --adapter serial:/dev/ttyS0", .device),
      ("stream --adapter unix:/x", .device), ("simulate --vhci", .device),
      ("stream --no-such-option", .nothing),
    ] as [(String, PrivilegeNeed)])
  func aCommandLineTellsWhatItNeeds(line: String, need: PrivilegeNeed) {
    #expect(PrivilegeNeed(line.split(separator: " ").map(String.init)) == need)
  }

  @Test func theProgramWithPrivilegesIsBesideTheOneWithout() {
    #expect(PrivilegedProgram.path(besides: "/usr/local/bin/halo-raw") == "/usr/local/lib/halo-raw/halo-raw")
    #expect(PrivilegedProgram.path(besides: "/bin/halo-raw") == "/lib/halo-raw/halo-raw")
    for other in [
      "/usr/local/lib/halo-raw/halo-raw", "/home/x/.build/release/halo-raw", "/x/bin/halo-raw2", "halo-raw",
    ] {
      #expect(PrivilegedProgram.path(besides: other) == nil, "it does not become itself for ever")
    }
  }

  @Test func anAdaptersErrorNamesItsRemedy() {
    let error = AdapterError("open hci0", .missing("CAP_NET_RAW"))
    #expect("\(error)" == "cannot open hci0: CAP_NET_RAW is missing")
    for failure in [Failure(error), Failure(HCIError.adapter(error))] {
      #expect(failure.code == .noPermission)
      #expect(failure.message.hasPrefix("\(error); run it with sudo, or "))
      #expect(failure.message.contains("sudo setcap 'cap_net_raw,cap_net_admin+ep' /"))
    }
    #expect(
      Failure(AdapterError("use hci3", .adapterDown(AdapterIndex("hci3")))).message
        == "cannot use hci3: the adapter is down; bring it up with: sudo halo-raw adapters up hci3")
  }

  @Test func onlyAFileThatRootAloneCanWriteIsTrusted() throws {
    #expect(PrivilegedProgram.isTrusted("/usr/bin/env") || PrivilegedProgram.isTrusted("/bin/sh"))
    let folder = try Folder()
    defer { folder.remove() }
    folder.write("program", "")
    chmod(folder.path + "/program", 0o757)
    symlink("/usr/bin/env", folder.path + "/link")
    for path in ["/program", "/link", "", "/nowhere"] {
      #expect(!PrivilegedProgram.isTrusted(folder.path + path))
    }
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

  /// Sockets of others, connections, and names that are not ours are left out.
  @Test func runningCommandsAreReadFromTheKernelsTable() {
    let table = """
      Num       RefCount Protocol Flags    Type St Inode Path
      00000000b77c1c05: 00000002 00000000 00010000 0001 01 20 @halo-raw/1000/4711
      00000000b77c1c06: 00000002 00000000 00010000 0001 01 21 @halo-raw/0/12
      00000000b77c1c07: 00000003 00000000 00000000 0001 03 22 @halo-raw/1000/4711
      00000000b77c1c08: 00000002 00000000 00010000 0001 01 23 @halo-raw/1000
      00000000b77c1c09: 00000002 00000000 00010000 0001 01 24 @halo-raw/-1/99999999999
      00000000b77c1c0a: 00000002 00000000 00010000 0001 01 25 /run/halo-raw/1000/1
      00000000b77c1c0b: 00000002 00000000 00000000 0002 01 26
      """
    #expect(
      RunningCommand.found(in: table) == [
        RunningCommand(user: 0, process: 12), RunningCommand(user: 1000, process: 4711),
      ])
    #expect(RunningCommand.found(in: "").isEmpty)
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
