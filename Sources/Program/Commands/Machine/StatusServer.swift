import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloStorage

/// Answers other commands while a command runs: a line of JSON to each connection of the same user, or of root. The connection
/// is the question: each question has a socket of its own, and only a mark comes with more.
@BluetoothActor
final class StatusServer {
  typealias Reply = (JSONValue) -> Void
  /// Answers a question: the bytes that came with it, and what takes the answer.
  typealias Answer = ([UInt8], @escaping Reply) -> Void

  /// A question of another command.
  enum Question: CaseIterable {
    /// The state of the command.
    case status
    /// A copy of the stored records of its rings; the answer comes when that is done.
    case copy
    /// A mark in the records of its rings; the bytes are those of a ``MarkRequest``.
    case mark

    /// The name of the socket of a process.
    func name(of process: pid_t) -> String {
      switch self {
      case .status: String(process)
      case .copy: "\(process).copy"
      case .mark: "\(process).mark"
      }
    }

    /// How many bytes come with it at most.
    fileprivate var longest: Int { self == .mark ? MarkRequest.longest : 0 }
  }

  private let folder: SocketFolder
  private let question: Question
  private let listener: Int32
  private let answer: Answer
  private var watch: EpollLoop.Watch?
  /// The connections that wait for an answer.
  private var waiting: Set<Int32> = []
  /// What reads their questions.
  private var readers: [Int32: QuestionReader] = [:]

  /// More are not accepted.
  private static let mostWaiting = 64
  /// After each connection, so that no program keeps the loop busy.
  private static let pause = Duration.milliseconds(20)

  /// - Throws: if this user has no folder for sockets, or the socket can't be made
  init(_ question: Question, _ answer: @escaping Answer) throws(FileError) {
    let folder = try RunningCommand.makeFolder()
    self.folder = folder
    self.question = question
    let name = question.name(of: getpid())
    let listener = try folder.listen(name)
    self.listener = listener
    self.answer = answer
    do throws(SystemError) {
      watch = try EpollLoop.shared.watch(listener, for: .readable) { [weak self] _ in self?.acceptOne() }
    } catch {
      close(listener)
      folder.remove(name)
      throw FileError(folder.opened, .system(error.errno))
    }
  }

  /// Answers no more.
  func stop() {
    watch.take()?.cancel()
    close(listener)
    folder.remove(question.name(of: getpid()))
    for reader in readers.values { reader.stop() }
    readers = [:]
    for descriptor in waiting { close(descriptor) }
    waiting = []
  }

  private func acceptOne() {
    watch?.interest = []
    _ = EpollLoop.shared.timers.schedule(after: Self.pause) { [weak self] in self?.watch?.interest = .readable
    }
    guard let (descriptor, user) = LocalSocket.accept(on: listener) else { return }
    guard user == geteuid() || user == 0, waiting.count < Self.mostWaiting else {
      close(descriptor)
      return
    }
    waiting.insert(descriptor)
    guard question.longest > 0 else { return ask([], descriptor) }
    readers[descriptor] = QuestionReader(descriptor, atMost: question.longest) { [weak self] bytes in
      guard let self else { return }
      readers[descriptor] = nil
      if let bytes { ask(bytes, descriptor) } else { end(descriptor) }
    }
  }

  private func ask(_ bytes: [UInt8], _ descriptor: Int32) {
    answer(bytes) { [weak self] json in self?.reply(json, to: descriptor) }
  }

  /// Gives no answer.
  private func end(_ descriptor: Int32) {
    if waiting.remove(descriptor) != nil { close(descriptor) }
  }

  private func reply(_ json: JSONValue, to descriptor: Int32) {
    guard waiting.contains(descriptor) else { return }
    defer { end(descriptor) }
    var line = json.line + "\n"
    // Text that does not fit into the socket at once is left out; it has room for all the rings that a command takes.
    _ = line.withUTF8 { SystemCall.send(descriptor, $0.baseAddress, $0.count, waits: false) }
  }
}

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
  static var noneRuns: Failure {
    Failure(
      .notFound,
      geteuid() == 0
        ? "no halo-raw command is running"
        : "no halo-raw command of this user is running; sudo halo-raw status shows those of all users")
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
