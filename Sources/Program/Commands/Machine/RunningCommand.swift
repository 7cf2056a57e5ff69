import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloStorage
import HaloSystem

/// A process of halo-raw that answers `halo-raw status`: its socket has its number as its name, in a folder of its user alone.
struct RunningCommand: Sendable {
  let process: pid_t
  /// Where the socket is. It stays open: another user could put another folder in the place of one that was looked at.
  let folder: SocketFolder
  var user: uid_t { folder.user }
  var userName: String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? String(user)
  }

  /// The end of the folder's path.
  private static let end = "/halo-raw/status"
  /// How many names of a folder are read: those of another user may be made to keep root busy.
  private static let longestFolder = 1024
  /// How many folders of a user are looked at: each takes a descriptor.
  private static let mostFolders = 8
  /// Where systemd has the runtime folders of those who are logged in.
  private static let logins = "/run/user"

  /// Makes this user's folder, in the first place where that is possible, and removes the files of killed processes from it.
  static func makeFolder() throws(FileError) -> SocketFolder {
    var failure = FileError("HOME", .system(ENOENT))
    for place in UserFolders.sockets {
      do throws(FileError) {
        let path = place + "/status"
        let names = StatusServer.Question.allCases.map { $0.name(of: getpid()) }
        guard names.allSatisfy({ SocketFolder.hasRoom(for: $0, in: path) }) else {
          throw FileError(path, .system(ENAMETOOLONG))
        }
        let folder = try SocketFolder.make(path)
        for process in processes(in: folder) where kill(process, 0) != 0 && errno == ESRCH {
          for question in StatusServer.Question.allCases { folder.removeIfStale(question.name(of: process)) }
        }
        return folder
      } catch {
        failure = error
      }
    }
    throw failure
  }

  /// The commands of this user, and for root those of all users, in the order of the users and of their numbers.
  static var all: [RunningCommand] {
    var places = UserFolders.sockets.map { $0 + "/status" }
    if geteuid() == 0 { places += SmallFile.names(in: logins).map { "\(logins)/\($0)\(end)" } }
    // Some commands were started with other variables.
    places += folders(in: SmallFile.text("/proc/net/unix", limit: 1 << 24) ?? "")
    return all(in: places)
  }

  /// The commands in folders that only their owners can use. A folder that is named twice counts once.
  static func all(in places: [String]) -> [RunningCommand] {
    var found: [RunningCommand] = []
    var known: [uid_t: Set<SocketFolder.Identity>] = [:]
    for place in places {
      guard let folder = SocketFolder(place), folder.user == geteuid() || geteuid() == 0,
        known[folder.user, default: []].count < mostFolders,
        known[folder.user, default: []].insert(folder.identity).inserted
      else { continue }
      found += processes(in: folder).map { RunningCommand(process: $0, folder: folder) }
    }
    return found.sorted { ($0.user, $0.process) < ($1.user, $1.process) }
  }

  /// The answer of each command, or nil for one that has ended; on another thread.
  ///
  /// - Parameters:
  ///   - bytes: those that come with the question
  ///   - milliseconds: how long all may take
  nonisolated static func answers(
    of all: [RunningCommand], to question: StatusServer.Question, with bytes: [UInt8] = [],
    within milliseconds: Int32
  ) -> [LocalSocket.Answer?] {
    LocalSocket.answers(to: bytes, of: all.map(\.user), atMost: mostAsked, within: milliseconds) {
      socket, index in
      all[index].folder.connect(socket, question.name(of: all[index].process))
    }
  }

  /// All commands with their answers about their state.
  ///
  /// - Parameter milliseconds: how long all may take
  /// - Returns: nil if the task was cancelled
  @BluetoothActor
  static func allWithStatus(within milliseconds: Int32) async -> [(RunningCommand, LocalSocket.Answer?)]? {
    await offTheLoop(privileges: .ofTheLoop) {
      let all = RunningCommand.all
      return Array(zip(all, answers(of: all, to: .status, within: milliseconds)))
    }
  }

  /// That there is no command to ask.
  ///
  /// - Parameter command: what root may ask those of all users
  static func noneRuns(_ command: String) -> Failure {
    Failure(
      .notFound,
      geteuid() == 0
        ? "no halo-raw command is running"
        : "no halo-raw command of this user is running; sudo halo-raw \(command) reaches those of all users")
  }

  /// How many commands of one user are asked.
  private static let mostAsked = 64

  private static func processes(in folder: SocketFolder) -> [pid_t] {
    SmallFile.names(in: folder.opened, limit: longestFolder).compactMap { name in
      pid_t(name).flatMap { $0 > 0 ? $0 : nil }
    }
  }

  /// The folders of such sockets in the text of `/proc/net/unix`: the flags are in the fourth column, and the path, which may
  /// have spaces, is in the last one.
  static func folders(in table: String) -> [String] {
    let listens = "00010000"
    let folders = table.split(separator: "\n").compactMap { line -> String? in
      let columns = line.split(separator: " ", maxSplits: 7)
      guard columns.count == 8, columns[3] == listens, let slash = columns[7].lastIndex(of: "/") else {
        return nil
      }
      let folder = columns[7][..<slash]
      return folder.hasPrefix("/") && folder.hasSuffix(end) ? String(folder) : nil
    }
    return Set(folders).sorted()
  }
}
