import HaloGATT
import HaloBluetoothCore
import HaloCommandLine
import RingLink

/// A line of a session with a device: `read 2A19`, `write 0x0012 0100`.
enum SessionLine: Equatable {
  case services
  case read(AttributeChoice)
  case write(AttributeChoice, [UInt8], isWithoutResponse: Bool)
  case subscribe(AttributeChoice, SubscriptionKind?)
  case unsubscribe(AttributeChoice)
  /// A frame to a ring, which is completed with zeros and its checksum.
  case send([UInt8], isConfirmed: Bool)
  case pair
  case info
  case pause(Duration)
  /// Waits for a value of a characteristic that is subscribed to.
  case await(AttributeChoice, Duration)
  case help
  case quit

  /// The words that a line begins with, with their arguments and their purposes.
  static let forms: [(word: String, arguments: String, purpose: String)] = [
    ("services", "", "the services and characteristics, with their handles"),
    ("read", "WHAT", "read a value; WHAT is a handle (0x0012) or a UUID (2A19)"),
    ("write", "WHAT HEX", "write bytes; or WHAT --text TEXT"),
    ("command", "WHAT HEX", "the same without response (Write Command)"),
    ("subscribe", "WHAT", "print values as the device sends them; --indicate asks for indications"),
    ("unsubscribe", "WHAT", "end that"),
    ("wait", "TIME", "wait: 500ms, 2s"),
    ("wait", "WHAT [TIME]", "wait for a value that has come since the last write, 10 s at most"),
    ("send", "NAME|HEX", "send a frame to a ring: battery, or 03; its checksum is added"),
    ("pair", "", "pair with the device, and keep the bond"),
    ("mtu", "", "the MTU, the parameters of the link, its PHY and signal strength"),
    ("help", "", "this list"),
    ("quit", "", "end the session; so do Ctrl-D and Ctrl-C"),
  ]

  /// A line for each form.
  static let helpText = forms.map { form in
    let start = "\(form.word) \(form.arguments)"
    return start + String(repeating: " ", count: max(2, 22 - start.count)) + form.purpose + "\n"
  }.joined()

  /// How long a value is waited for.
  private static let patience = Duration.seconds(10)

  /// - Returns: nil for an empty line, and for a comment, which begins with #
  /// - Throws: `.usage`, with the error
  init?(_ text: String) throws(Failure) {
    let words = text.split(whereSeparator: \.isWhitespace).map { String($0) }
    guard let first = words.first, !first.hasPrefix("#") else { return nil }
    let rest = words.dropFirst()
    switch first {
    case "services", "inspect", "pair", "info", "mtu", "help", "?", "quit", "exit":
      guard rest.isEmpty else { throw .usage("\(first) takes no arguments") }
      self =
        switch first {
        case "services", "inspect": .services
        case "pair": .pair
        case "info", "mtu": .info
        case "help", "?": .help
        default: .quit
        }
    case "read": self = .read(try Self.attribute(rest, of: first))
    case "write", "command":
      let isWithoutResponse = first == "command" || rest.first == "--without-response"
      let words = rest.first == "--without-response" ? rest.dropFirst() : rest
      guard words.count > 1, let what = words.first else {
        throw .usage("\(first) needs a handle or a UUID, and a value: \(first) 0x0012 0100")
      }
      self = .write(
        try Self.attribute([what], of: first), try Self.value(in: text, after: what),
        isWithoutResponse: isWithoutResponse)
    case "subscribe":
      let kind: SubscriptionKind? = rest.contains("--indicate") ? .indication : nil
      self = .subscribe(try Self.attribute(rest.filter { $0 != "--indicate" }[...], of: first), kind)
    case "unsubscribe": self = .unsubscribe(try Self.attribute(rest, of: first))
    case "wait": self = try Self.wait(Array(rest))
    case "send": self = try Self.frame(Array(rest))
    default: throw .unknown("command", first, among: Self.forms.map(\.word), advice: "see help")
    }
  }

  private static func attribute(
    _ words: ArraySlice<String>, of command: String
  ) throws(Failure) -> AttributeChoice {
    guard words.count == 1, let word = words.first else {
      throw .usage("\(command) needs one handle or UUID, such as 0x0012 or 2A19")
    }
    guard let choice = AttributeChoice(naming: word) else {
      throw .usage(
        "\"\(word.printable)\" is no handle and no UUID; give one as services prints it: 0x0012, 2A19")
    }
    return choice
  }

  /// The bytes behind a word, as ``value(of:)`` takes them: the spaces in a text are part of it.
  private static func value(in text: String, after word: String) throws(Failure) -> [UInt8] {
    guard let range = text.firstRange(of: word) else { return [] }
    return try HaloCommands.value(of: String(text[range.upperBound...].drop(while: \.isWhitespace)))
  }

  private static func time(_ text: String) -> Duration? {
    // A time has no error of its own.
    (try? ArgumentType<Duration>.time.parse(text)) ?? nil
  }

  private static func wait(_ words: [String]) throws(Failure) -> SessionLine {
    if words.count == 1, let time = time(words[0]),
      words[0].last?.isLetter == true
    {
      return .pause(time)
    }
    guard let first = words.first, words.count <= 2 else {
      throw .usage("wait needs a time, such as 2s, or a handle or UUID")
    }
    let choice = try attribute([first], of: "wait")
    guard words.count == 2 else { return .await(choice, patience) }
    guard let time = time(words[1]) else {
      throw .usage("\"\(words[1].printable)\" is no time; give one such as 2s or 500ms")
    }
    return .await(choice, time)
  }

  private static func frame(_ words: [String]) throws(Failure) -> SessionLine {
    let isConfirmed = words.contains("--yes")
    let words = words.filter { $0 != "--yes" }
    guard !words.isEmpty else {
      throw .usage("send needs the name of a frame, or bytes: send battery, send 03")
    }
    if let bytes = Hex.bytes(words.joined(separator: " ")), !bytes.isEmpty {
      return .send(bytes, isConfirmed: isConfirmed)
    }
    guard words.count == 1, let bytes = try RingFrames.request(named: words[0]) else {
      throw .unknown(
        "frame", words.joined(separator: " "), among: RingFrames.names,
        advice: "names are those of halo-raw ring-commands; bytes are hexadecimal digits: send 03")
    }
    return .send(bytes, isConfirmed: isConfirmed)
  }
}

/// The frames of a ring by their names, and their meanings.
enum RingFrames {
  private static let requests: [(name: String, command: RingCommand, entry: CommandEntry)] =
    CommandTable.all.compactMap { entry in
      guard case .frame(let command) = entry.subject, entry.danger == nil, entry.shape != .event else {
        return nil
      }
      return (entry.name.replacing(" ", with: "-"), command, entry)
    }

  static var names: [String] { requests.map(\.name) }

  /// The command's byte and the bytes behind it; nil for a name that no frame has.
  ///
  /// - Throws: if the frame has values, which have to be given as bytes
  static func request(named name: String) throws(Failure) -> [UInt8]? {
    guard let (_, command, entry) = requests.first(where: { $0.name == name.lowercased() }) else {
      return nil
    }
    guard entry.requests.allSatisfy({ $0.fields.isEmpty }) else {
      throw .usage(
        "\(name) has values: give the bytes, send \(Hex.string(command.rawValue)) and what follows; see ring-commands"
      )
    }
    let marks = entry.requests.first?.marks ?? []
    var payload = entry.prefix
    for mark in marks where mark.offset > payload.count {
      payload += Array(repeating: 0, count: mark.offset - payload.count - 1) + [mark.byte]
    }
    return [command.rawValue] + payload
  }

  /// The meaning of a value of a ring's characteristic: `battery, reading: level 87 percent, charging no`; nil for others.
  static func words(_ value: [UInt8], of uuid: BluetoothUUID) -> String? {
    guard uuid == RingGATT.commandNotify || uuid == RingGATT.commandWrite,
      let frame = try? RingFrame(parsing: value.span.bytes)
    else { return nil }
    let meaning = CommandTable.meaning(of: frame, isFromRing: uuid == RingGATT.commandNotify)
    let title = [meaning.name, meaning.refusal.map { "refused: \($0.code)" } ?? meaning.form?.name]
      .compactMap { $0 }.joined(separator: ", ")
    let fields = meaning.fields.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
    return fields.isEmpty ? title : "\(title): \(fields)"
  }
}
