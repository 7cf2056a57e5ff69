import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloGATT

/// Where the value of a characteristic comes from, as an option says.
struct ValueSource: Hashable, Sendable {
  /// The origin of the value.
  enum Origin: Hashable, Sendable {
    case given([UInt8])
    /// The file with this path.
    case file(String)
    /// The output of this command of the shell.
    case program(String)
  }

  let choice: AttributeChoice
  let origin: Origin

  static let option = Option(
    "--value", as: .valueSources, repeatable: true,
    help:
      "the value of a characteristic, by its UUID or handle: 2A19=64, or 2A00=--text Pi; 2A6E=@FILE has it from a file, "
      + "and sends it when the file changes; 2A6E=!COMMAND has it from the output of a command of the shell, which runs "
      + "again and again. Several times for several")
  static let interval = Option(
    "--value-interval", as: .time, default: "1s",
    help: "how often --value reads a file and runs a command, 100ms or more")
  static let options: [any CommandOption] = [option, interval]
}

extension ArgumentType where Value == [ValueSource] {
  fileprivate static var valueSources: Self {
    ArgumentType(
      placeholder: "UUID=VALUE",
      expected: "UUID=VALUE, UUID=@FILE or UUID=!COMMAND, with a UUID or a handle such as 0x0012"
    ) { text in
      // The values of an option that is given several times have commas between them, as may a text, a path and a command: a new
      // one begins with the name of a characteristic.
      var parts: [String] = []
      for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        if parts.isEmpty || name(of: part) != nil {
          parts.append(String(part))
        } else {
          parts[parts.count - 1] += "," + part
        }
      }
      var sources: [ValueSource] = []
      for part in parts {
        guard let choice = name(of: part[...]), let sign = part.firstIndex(of: "=") else { return nil }
        let rest = String(part[part.index(after: sign)...])
        let origin: ValueSource.Origin =
          switch rest.first {
          case "@": .file(String(rest.dropFirst()))
          case "!": .program(String(rest.dropFirst()))
          default: .given(try HaloCommands.value(of: rest))
          }
        sources.append(ValueSource(choice: choice, origin: origin))
      }
      return sources
    }
  }

  private static func name(of part: Substring) -> AttributeChoice? {
    part.firstIndex(of: "=").flatMap { AttributeChoice(naming: String(part[..<$0])) }
  }
}

/// Gives the values of options: once, when a file changes, or each time that a program has run.
@BluetoothActor
final class ValueFollower {
  /// The most bytes of a file and of an output: a value of 512 bytes as digits, with spaces and lines.
  private nonisolated static let limit = 4096
  /// How long a program may run, in seconds.
  private nonisolated static let programTime = 10.0

  private let values: ServedValues
  private let timers: Timers
  private let interval: Duration
  private let end: Interruption
  private var programs: [Int: ChildProgram] = [:]

  /// - Parameter interruption: ends it, as ``stop()`` does
  init(_ values: ServedValues, each interval: Duration, _ timers: Timers, _ interruption: Interruption) {
    (self.values, self.interval, self.timers) = (values, interval, timers)
    end = Interruption(following: interruption)
    _ = end.onRequest { [weak self] in self?.programs.values.forEach { $0.end() } }
  }

  /// - Parameter onlyGiven: whether files and programs are left alone
  /// - Throws: if the table has no such characteristic; nothing has been given then
  func start(_ sources: [ValueSource], onlyGiven: Bool) throws(Failure) {
    var found: [(characteristic: CharacteristicDeclaration, origin: ValueSource.Origin)] = []
    for source in sources { found.append((try values.characteristic(source.choice), source.origin)) }
    for (number, source) in found.enumerated() {
      if case .given(let value) = source.origin {
        try values.set(value, of: source.characteristic)
      } else if !onlyGiven {
        _ = BluetoothActor.run { await self.follow(source.origin, number, source.characteristic) }
      }
    }
  }

  func stop() { end.request() }

  private func follow(
    _ origin: ValueSource.Origin, _ number: Int, _ characteristic: CharacteristicDeclaration
  ) async {
    var known: [UInt8]?
    var said: String?
    while !end.isRequested {
      let next = await text(of: origin, number)
      guard let next, !end.isRequested else { return }
      do throws(Failure) {
        let bytes = try next.get()
        if origin.isRun || bytes != known {
          known = bytes
          try give(bytes, to: characteristic)
          said = nil
        }
      } catch {
        // It is said once, and not each second.
        if error.message != said { Console.error("halo-raw: \(origin): \(error.message)") }
        said = error.message
      }
      await end.sleep(for: interval, in: timers)
    }
  }

  /// An empty text is none yet: a file is empty while it is written.
  private func give(_ bytes: [UInt8], to characteristic: CharacteristicDeclaration) throws(Failure) {
    let text = String(decoding: bytes, as: UTF8.self).drop(while: \.isWhitespace)
    guard let last = text.lastIndex(where: { !$0.isWhitespace }) else { return }
    try values.set(try value(of: String(text[...last])), of: characteristic)
  }

  /// - Returns: the text of a value; nil if it was interrupted
  private func text(of origin: ValueSource.Origin, _ number: Int) async -> Result<[UInt8], Failure>? {
    switch origin {
    case .given(let value): return .success(value)
    case .file(let path):
      let read = await offTheLoop {
        Result { () throws(FileError) in try InputFile.read(path, limit: Self.limit, timeout: 1000) }
      }
      return read?.mapError { Failure(ExitCode($0), "\($0.reason)") }
    case .program(let command):
      let program = ChildProgram(command)
      programs[number] = program
      defer { programs[number] = nil }
      let output = await offTheLoop {
        Result { () throws(ChildProgram.Failure) in
          try program.run(limit: Self.limit, seconds: Self.programTime)
        }
      }
      return output?.mapError { Failure(.systemError, $0.description) }
    }
  }
}

extension ValueSource.Origin: CustomStringConvertible {
  /// Whether each text is a value, also one that is the same again.
  fileprivate var isRun: Bool {
    if case .program = self { true } else { false }
  }

  /// The beginning of the lines about it.
  var description: String {
    switch self {
    case .given(let value): Hex.string(value)
    case .file(let path): path.printable
    case .program(let command): command.printable
    }
  }
}
