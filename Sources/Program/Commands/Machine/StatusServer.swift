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
