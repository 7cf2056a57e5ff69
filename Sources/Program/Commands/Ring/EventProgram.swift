import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import RingLink

/// Runs a command at an action of the wearer and at an alarm of the ring, one after the other.
@BluetoothActor
final class EventProgram {
  nonisolated static let option = Option(
    "--exec", as: .commandWords,
    help: "run a command at each gesture, key, button and alarm, with the event as its last arguments")

  nonisolated static let details = """
    --exec CMD runs a command when the hand is shaken (with --camera), at a key or a button, when the wearer searches for the
    phone, and when the heart rate leaves its limits. CMD is split into words as a shell does with quotes, but no shell
    reads it. Its last arguments are the event and the note of the record, such as "camera shake", "key next" or "button tap",
    and for "heart-rate-alarm too-high" the heart rate. One runs at a time: \(mostWaiting) more wait, and others are left out, which
    is said. What it prints goes to standard error. After \(Int(longestTime)) s it is killed. docs/days.md turns pages with it.
    """

  /// More events would act long after the wearer did.
  private nonisolated static let mostWaiting = 8
  /// In seconds.
  private nonisolated static let longestTime = 60.0
  /// In bytes; more than that is no message.
  private nonisolated static let mostOutput = 1 << 16

  private let words: [String]
  private let interruption: Interruption
  private var waiting: [[String]] = []
  private var leftOut = 0
  private var running: ChildProgram?
  private var work: Task<Void, Never>?

  /// - Parameters:
  ///   - words: the program and its first arguments
  ///   - interruption: ends it
  /// - Throws: if there is no such program
  init(_ words: [String], _ interruption: Interruption) throws(Failure) {
    guard let name = words.first, Self.canBeRun(name) else {
      throw Failure(
        .cannotOpenFile,
        "--exec: there is no program \(words.first?.printable ?? "") that can be run; give its path, or a name in PATH"
      )
    }
    (self.words, self.interruption) = (words, interruption)
    _ = interruption.onRequest { [weak self] in
      self?.waiting = []
      self?.running?.end()
    }
  }

  private static func canBeRun(_ name: String) -> Bool {
    let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    let paths = name.contains("/") ? [name] : folders.split(separator: ":").map { "\($0)/\(name)" }
    return paths.contains { path in
      var status = stat()
      return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
  }

  /// Runs the command for an event that is an action or an alarm; others pass.
  func run(for event: RingEvent) {
    guard let arguments = event.momentWords, !interruption.isRequested else { return }
    guard waiting.count < Self.mostWaiting else {
      leftOut += 1
      return
    }
    waiting.append(arguments)
    if work == nil { work = BluetoothActor.run { await self.runAll() } }
  }

  /// Waits until the commands of all events have ended.
  func finish() async { await work?.value }

  private func runAll() async {
    while !waiting.isEmpty {
      let arguments = waiting.removeFirst()
      let program = ChildProgram(arguments: words + arguments)
      running = program
      let output = await offTheLoop {
        Result { () throws(ChildProgram.Failure) in
          try program.run(limit: Self.mostOutput, seconds: Self.longestTime)
        }
      }
      running = nil
      say(output, of: arguments)
    }
    work = nil
  }

  private func say(_ output: Result<[UInt8], ChildProgram.Failure>?, of arguments: [String]) {
    if case .success(let bytes)? = output {
      for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
        Console.error(String(line).printable)
      }
    }
    if case .failure(let failure)? = output, !interruption.isRequested {
      Console.error("halo-raw: --exec at \(arguments.joined(separator: " ").printable): \(failure)")
    }
    guard leftOut > 0 else { return }
    Console.error("halo-raw: --exec left out \(Console.counted(leftOut, "event")): the command is too slow")
    leftOut = 0
  }
}

extension RingEvent {
  /// The words for an action of the wearer, or an alarm: `button tap`. Nil for an event that the ring reports by itself.
  var momentWords: [String]? {
    let value: [String]
    switch self {
    case .camera(.shake), .mediaKey, .button, .findsPhone: value = []
    case .heartRateAlarm(let alarm): value = ["\(alarm.beatsPerMinute)"]
    default: return nil
    }
    let (name, values) = record
    guard case .text(let note?)? = values["note"] else { return nil }
    return [name, note] + value
  }
}

extension ArgumentType where Value == [String] {
  /// A program with its arguments, as words: spaces divide them, unless they are in quotes or behind a backslash.
  static var commandWords: Self {
    ArgumentType(placeholder: "CMD", expected: "a command, with each quote closed") { text in
      var words: [String] = []
      var word: String?
      var quote: Character?
      var rest = text[...]
      while let character = rest.popFirst() {
        switch (character, quote) {
        case ("\\", nil), ("\\", "\""):
          guard let next = rest.popFirst() else { return nil }
          word = (word ?? "") + String(next)
        case (let mark, let open?) where mark == open: quote = nil
        case ("\"", nil), ("'", nil):
          quote = character
          word = word ?? ""
        case (" ", nil), ("\t", nil), ("\n", nil):
          if let complete = word.take() { words.append(complete) }
        default: word = (word ?? "") + String(character)
        }
      }
      if let word { words.append(word) }
      // A program takes no zero byte in an argument.
      return quote != nil || words.isEmpty || words.contains { $0.utf8.contains(0) } ? nil : words
    }
  }
}
