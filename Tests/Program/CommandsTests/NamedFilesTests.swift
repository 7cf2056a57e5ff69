import Glibc
import TestSupport
import Testing

@testable import HaloViews
@testable import HaloCommandLine
@testable import HaloCommands

/// Pairs of options that name files.
struct NamedFilesTests {
  private func check(_ line: String, _ folder: Folder) throws {
    let words = line.replacing("%", with: folder.path + "/").split(separator: " ").map(String.init)
    let command = try Commands.named(words[0])
    try Invocation(parsing: Array(words.dropFirst()), for: command).checkFiles()
  }

  @Test(arguments: [
    "decode %a --html %a", "decode %a --html %link", "decode %link --html %hard",
    "stream --adapter replay:%a --record %a", "stream --adapter replay:%a,lenient,index=0 --record %link",
    "settings --export %a --record %a", "settings --export %new --record %new",
    "settings --export %new --record %dangling", "settings --import %a --record %a",
    "sync --store %a --record %hard", "history steps --store %a --record %a",
  ])
  func oneFileIsNotUsedTwice(line: String) throws {
    let folder = try Self.folder()
    defer { folder.remove() }
    let failure = #expect(throws: Failure.self) { try check(line, folder) }
    #expect(failure?.code == .usage && failure?.message.contains("are the same file") == true)
  }

  @Test(arguments: [
    "decode %a --html %b", "settings --export %new --record %other", "stream --record /dev/null", "decode %a",
    "settings --export /dev/null --record /dev/null", "decode /nowhere/a --html /nowhere/b",
    "decode - --html %a",
  ])
  func acceptsDistinctOrSpecialFiles(line: String) throws {
    let folder = try Self.folder()
    defer { folder.remove() }
    try check(line, folder)
  }

  private static func folder() throws -> Folder {
    let folder = try Folder()
    folder.write("a", "x")
    folder.write("b", "x")
    symlink("a", folder.path + "/link")
    link(folder.path + "/a", folder.path + "/hard")
    symlink("new", folder.path + "/dangling")
    return folder
  }
}
