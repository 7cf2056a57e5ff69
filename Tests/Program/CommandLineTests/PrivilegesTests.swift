import Glibc
import HaloSystem
import TestSupport
import Testing

@testable import HaloCommandLine

@Suite struct PrivilegesTests {
  @Test func capabilitiesAreSpelledAsSetcapDoes() {
    #expect("\(Capabilities.useful)" == "cap_net_raw,cap_net_admin")
    #expect("\(Capabilities(rawValue: 1 << 13 | 1 << 40))" == "cap_net_raw,40")
    #expect("\(Capabilities())" == "")
  }

  @Test func parsesCapabilitiesFromProcStatus() {
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
    // Both are asked of one thread: a suspension between the two might change it.
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

  @Test func findsNoInvokingUserWithoutSudo() {
    #expect(InvokingUser.ids(user: nil, group: "1000") == nil)
    #expect(InvokingUser.ids(user: "1000", group: nil) == nil)
  }

  @Test func onlyTheRawSocketNeedsACapabilityLater() {
    #expect(Privileges.Way.rawSocket.needs == .netRaw)
    #expect(Privileges.Way.other.needs == [])
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
}
