import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloEventLoop
import HaloFiles
import HaloJSON
import HaloSystemCalls

/// Answers `halo-raw status` while a command runs: a line of JSON to each connection of the same user, or of root.
@BluetoothActor
final class StatusServer {
  private let folder: SocketFolder
  private let listener: Int32
  private let answer: () -> JSONValue
  private var watch: EpollLoop.Watch?

  fileprivate nonisolated static var name: String { String(getpid()) }
  /// After each connection, so that no program keeps the loop busy.
  private static let pause = Duration.milliseconds(20)

  /// - Throws: if this user has no folder for sockets, or the socket can't be made
  init(_ answer: @escaping () -> JSONValue) throws(FileError) {
    let folder = try RunningCommand.makeFolder()
    self.folder = folder
    let listener = try folder.listen(Self.name)
    self.listener = listener
    self.answer = answer
    do throws(SystemError) {
      watch = try EpollLoop.shared.watch(listener, for: .readable) { [weak self] _ in self?.acceptOne() }
    } catch {
      close(listener)
      folder.remove(Self.name)
      throw FileError(folder.opened, .system(error.errno))
    }
  }

  /// Answers no more.
  func stop() {
    watch.take()?.cancel()
    close(listener)
    folder.remove(Self.name)
  }

  private func acceptOne() {
    watch?.interest = []
    _ = EpollLoop.shared.timers.schedule(after: Self.pause) { [weak self] in self?.watch?.interest = .readable
    }
    guard let (descriptor, user) = LocalSocket.accept(on: listener) else { return }
    defer { close(descriptor) }
    guard user == geteuid() || user == 0 else { return }
    var line = answer().line + "\n"
    // What does not fit into the socket at once is left out; it has room for all the rings that a command takes.
    _ = line.withUTF8 { SystemCall.send(descriptor, $0.baseAddress, $0.count, waits: false) }
  }
}

/// A process of halo-raw that answers `halo-raw status`: its socket has its number as its name, in a folder of its user alone.
struct RunningCommand: Sendable {
  let process: pid_t
  /// Where the socket is. It stays open: another user could put another folder in the place of one that was looked at.
  let folder: SocketFolder
  var user: uid_t { folder.user }

  /// What the path of the folder ends with.
  private static let end = "/halo-raw/status"
  /// How many names of a folder are read: those of another user may be made to keep root busy.
  private static let longestFolder = 1024
  /// How many folders of a user are looked at: each takes a descriptor.
  private static let mostFolders = 8
  /// Where systemd has the runtime folders of those who are logged in.
  private static let logins = "/run/user"

  /// Makes this user's folder, in the first place where that is possible, and removes from it what killed processes have left.
  static func makeFolder() throws(FileError) -> SocketFolder {
    var failure = FileError("HOME", .system(ENOENT))
    for place in UserFolders.sockets {
      do throws(FileError) {
        let path = place + "/status"
        guard SocketFolder.hasRoom(for: StatusServer.name, in: path) else {
          throw FileError(path, .system(ENAMETOOLONG))
        }
        let folder = try SocketFolder.make(path)
        for process in processes(in: folder) where kill(process, 0) != 0 && errno == ESRCH {
          folder.removeIfStale(String(process))
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

  /// Connects a socket to that of the command.
  ///
  /// - Returns: whether it is connected; if not, `errno` says why
  func connect(_ socket: Int32) -> Bool { folder.connect(socket, String(process)) }

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
