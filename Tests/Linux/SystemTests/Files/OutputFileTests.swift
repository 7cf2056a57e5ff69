import Glibc
import HaloSystem
import Testing

/// What is there stays what it is.
struct OutputFileTests {
  private let folder: TemporaryFolder
  private let other: uid_t = 12345

  init() throws { folder = try TemporaryFolder() }

  private func replace(_ name: String, _ text: String = "new") throws -> OutputFile? {
    try OutputFile.replace(folder(name), with: Array(text.utf8))
  }

  @Test func aNewFileIsItsUsersAlone() throws {
    let mask = umask(0)
    defer { umask(mask) }
    #expect(try replace("a") == nil)
    close(try OutputFile.open(path: folder("b")))
    for name in ["a", "b"] { #expect(try folder.status(name).st_mode & 0o777 == 0o600) }
    #expect(folder.read("a") == "new" && folder.read("b") == "")
    #expect(folder.names == ["a", "b"])
  }

  @Test func aRegularFileIsReplacedAtOnceWithItsMode() throws {
    try folder.write("old", to: "a", mode: 0o640)
    let before = try folder.status("a")
    let reader = open(folder("a"), O_RDONLY)
    defer { close(reader) }
    #expect(try replace("a") == nil)
    #expect(folder.read("a") == "new")
    #expect(try folder.status("a").st_mode == before.st_mode)
    #expect(try folder.status("a").st_ino != before.st_ino)
    var old = [UInt8](repeating: 0, count: 3)
    #expect(read(reader, &old, 3) == 3 && old == Array("old".utf8), "who reads the old file goes on with it")
    #expect(folder.names == ["a"])
  }

  @Test(.enabled(if: geteuid() == 0)) func theOwnerIsKept() throws {
    try folder.write("old", to: "a", mode: 0o604)
    chown(folder("a"), other, 54321)
    #expect(try replace("a") == nil)
    let after = try folder.status("a")
    #expect(after.st_uid == other && after.st_gid == 54321 && after.st_mode & 0o777 == 0o604)
    #expect(folder.read("a") == "new")
  }

  @Test func otherNamesOfTheFileKeepTheirShare() throws {
    try folder.write("old", to: "a")
    link(folder("a"), folder("b"))
    #expect(try replace("a") == nil)
    #expect(folder.read("b") == "new")
    #expect(try folder.status("a").st_ino == folder.status("b").st_ino)
  }

  @Test func keepsSymlink() throws {
    mkdir(folder("there"), 0o700)
    try folder.write("old", to: "there/a")
    symlink("there/a", folder("link"))
    symlink("there/new", folder("dangling"))
    #expect(try replace("link") == nil)
    #expect(try replace("dangling") == nil)
    #expect(try folder.status("link").st_mode & S_IFMT == S_IFLNK)
    #expect(folder.read("there/a") == "new" && folder.read("there/new") == "new")
    symlink("loop", folder("loop"))
    #expect(failure { _ = try replace("loop") } == .system(ELOOP))
  }

  @Test func devicesStayDevices() throws {
    for path in ["/dev/null", "/dev/full"] {
      let file = try #require(try OutputFile.replace(path, with: [1]))
      #expect(!file.isRegular)
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
      #expect(write(file.descriptor, "x", 1) == (path == "/dev/null" ? 1 : -1))
    }
    symlink("/dev/null", folder("null"))
    let linked = try #require(try replace("null"))
    #expect(!linked.isRegular)
    #expect(try folder.status("null").st_mode & S_IFMT == S_IFLNK)
  }

  @Test func aFIFOWithoutAReaderIsNotWaitedFor() throws {
    mkfifo(folder("pipe"), 0o600)
    #expect(failure { _ = try OutputFile.open(path: folder("pipe")) } == .noReader)
    #expect(failure { _ = try replace("pipe") } == .noReader)
    let reader = open(folder("pipe"), O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let file = try #require(try replace("pipe"))
    #expect(fcntl(file.descriptor, F_GETFL) & O_NONBLOCK == 0)
    #expect(try folder.status("pipe").st_mode & S_IFMT == S_IFIFO)
  }

  /// `/dev/fd/N`, as shells give it for `>(...)`.
  @Test func writesThroughProcFileDescriptorLinks() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let file = try #require(try OutputFile.replace("/dev/fd/\(ends[1])", with: [7]))
    #expect(write(file.descriptor, [7] as [UInt8], 1) == 1)
    try folder.write("longer than new", to: "a")
    let opened = open(folder("a"), O_RDWR)
    defer { close(opened) }
    let before = try folder.status("a").st_ino
    #expect(try OutputFile.replace("/proc/self/fd/\(opened)", with: Array("new".utf8)) == nil)
    #expect(try folder.status("a").st_ino == before)
    #expect(folder.read("a") == "new")
  }

  @Test func reportsUnwritablePath() throws {
    #expect(failure { _ = try replace("nowhere/a") } == .system(ENOENT))
    #expect(failure { _ = try OutputFile.replace("/dev/null/a", with: []) } == .system(ENOTDIR))
    mkdir(folder("a"), 0o700)
    for name in ["a", "a/", "a/.", "a/.."] { #expect(failure { _ = try replace(name) } == .system(EISDIR)) }
    #expect(failure { _ = try OutputFile.replace("", with: []) } == .system(ENOENT))
  }

  /// In `/tmp`, others' links, files and FIFOs are not followed and not written.
  @Test(.enabled(if: geteuid() == 0)) func inASharedFolderOnlyOnesOwnCounts() throws {
    mkdir(folder("shared"), 0o700)
    chmod(folder("shared"), 0o1777)
    chown(folder("shared"), 4711, 4711)
    try folder.write("mine", to: "target")
    symlink(folder("target"), folder("shared/link"))
    #expect(try replace("shared/link") == nil, "a link of one's own")
    try folder.write("theirs", to: "shared/file")
    mkfifo(folder("shared/pipe"), 0o666)
    let reader = open(folder("shared/pipe"), O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    for name in ["link", "file", "pipe"] { lchown(folder("shared/\(name)"), other, other) }
    for name in ["link", "file", "pipe"] {
      #expect(failure { _ = try replace("shared/\(name)", "bad") } == .foreign)
      #expect(failure { _ = try OutputFile.open(path: folder("shared/\(name)")) } == .foreign)
    }
    #expect(folder.read("target") == "new" && folder.read("shared/file") == "theirs")
    lchown(folder("shared/link"), 4711, 4711)
    #expect(try replace("shared/link", "by the folder's owner") == nil)
    #expect(try replace("shared/own") == nil)
  }

  @Test func filesAreTheSameHoweverTheyAreSpelled() throws {
    try folder.write("x", to: "a")
    symlink("a", folder("link"))
    link(folder("a"), folder("hard"))
    symlink("missing", folder("dangling"))
    let opened = open(folder("a"), O_RDONLY)
    defer { close(opened) }
    let this = try #require(FileIdentity(path: folder("a")))
    for path in [folder("link"), folder("hard"), folder.path + "/./a", "/dev/fd/\(opened)"] {
      #expect(FileIdentity(path: path) == this)
    }
    #expect(FileIdentity(descriptor: opened) == this)
    let missing = try #require(FileIdentity(path: folder("missing")))
    #expect(FileIdentity(path: folder("dangling")) == missing)
    #expect(missing != this)
    #expect(FileIdentity(path: folder("nowhere/a")) == nil)
    #expect(FileIdentity(path: "/dev/null") == nil)
  }
}
