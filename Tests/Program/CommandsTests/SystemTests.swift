import Glibc
import HaloCommandLine
import TestSupport
import Testing

@testable import HaloCommands

/// What a command needs of this machine, and what the kernel says of it.
@Suite struct SystemTests {
  /// What needs no privilege has given it up before it reads anything.
  @Test(
    arguments: [
      ("", .nothing), ("--help", .nothing), ("nonsense", .nothing), ("stream --help", .nothing),
      ("decode x", .nothing), ("bonds", .nothing), ("bonds forget x", .nothing), ("bonds import", .device),
      ("export steps", .nothing), ("replay x stream", .nothing), ("forget", .nothing),
      ("history steps --stored", .nothing), ("history steps", .adapter),
      ("stream --adapter virtual", .nothing),
      ("stream --adapter replay:x", .nothing), ("stream --adapter nonsense", .nothing), ("stream", .adapter),
      ("stream --adapter hci1", .adapter), ("stream --adapter user:hci1", .adapter), ("doctor", .adapter),
      ("adapters up hci0", .adapter), ("record x", .adapter), ("stream --adapter serial:/dev/ttyS0", .device),
      ("stream --adapter unix:/x", .device), ("simulate --vhci", .device),
      ("stream --no-such-option", .nothing),
    ] as [(String, PrivilegeNeed)])
  func derivesRequiredPrivilegesFromCommandLine(line: String, need: PrivilegeNeed) {
    #expect(PrivilegeNeed(line.split(separator: " ").map(String.init)) == need)
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

  /// Connections, sockets that do not listen, and names that are not ours are left out.
  @Test func foldersOfCommandsAreReadFromTheKernelsTable() {
    let table = """
      Num       RefCount Protocol Flags    Type St Inode Path
      00000000b77c1c05: 00000002 00000000 00010000 0001 01 20 /run/user/1000/halo-raw/status/4711
      00000000b77c1c06: 00000002 00000000 00010000 0001 01    21 /home/a b/.local/state/halo-raw/status/12
      00000000b77c1c07: 00000003 00000000 00000000 0001 03 22 /run/user/1001/halo-raw/status/4711
      00000000b77c1c08: 00000002 00000000 00010000 0001 01 23 @/halo-raw/status/1
      00000000b77c1c09: 00000002 00000000 00010000 0001 01 24 halo-raw/status/5
      00000000b77c1c0a: 00000002 00000000 00010000 0001 01 25 /run/halo-raw/1000/1
      00000000b77c1c0b: 00000002 00000000 00000000 0002 01 26
      00000000b77c1c0c: 00000002 00000000 00010000 0001 01 27 /run/user/1000/halo-raw/status/13
      """
    #expect(
      RunningCommand.folders(in: table) == [
        "/home/a b/.local/state/halo-raw/status", "/run/user/1000/halo-raw/status",
      ])
    #expect(RunningCommand.folders(in: "").isEmpty)
  }

  /// A folder that others can use, or that is a link, says nothing.
  @Test func onlyFoldersOfOneUserHaveCommands() throws {
    let folder = try Folder()
    defer { folder.remove() }
    folder.write("own/17", "")
    folder.write("own/x", "")
    folder.write("own/-3", "")
    folder.write("open/18", "")
    chmod(folder.path + "/own", 0o700)
    chmod(folder.path + "/open", 0o750)
    symlink(folder.path + "/own", folder.path + "/link")
    let places = ["own", "open", "link", "own/../own", "none"].map { folder.path + "/" + $0 }
    let found = RunningCommand.all(in: places)
    #expect(found.map(\.process) == [17] && found.first?.user == geteuid())
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
