extension JSONValue {
  /// The greatest depth of nested arrays and objects. It bounds the stack that untrusted text can use.
  static let maximumDepth = 64

  /// Parses one value, and nothing but white space around it.
  ///
  /// - Parameter text: UTF-8. If an object has a name twice, the last value counts.
  package init(parsing text: some Collection<UInt8>) throws(JSONError) {
    var parser = JSONParser(text)
    self = try parser.document()
  }
}

private struct JSONParser {
  private let text: [UInt8]
  private var position = 0

  init(_ text: some Collection<UInt8>) {
    self.text = Array(text)
  }

  private var next: UInt8? { position < text.count ? text[position] : nil }
  private var malformed: JSONError { .malformed(offset: position) }

  mutating func document() throws(JSONError) -> JSONValue {
    skipSpace()
    let value = try value(depth: 0)
    skipSpace()
    guard next == nil else { throw malformed }
    return value
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
    switch next {
    case UInt8(ascii: "{"): return .object(try object(depth: depth))
    case UInt8(ascii: "["): return .array(try array(depth: depth))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-")?, (UInt8(ascii: "0")...UInt8(ascii: "9"))?: return try number()
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: throw malformed
    }
  }

  private mutating func object(depth: Int) throws(JSONError) -> [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    try list(depth: depth, until: UInt8(ascii: "}")) { parser, depth throws(JSONError) in
      guard parser.next == UInt8(ascii: "\"") else { throw parser.malformed }
      let name = try parser.string()
      parser.skipSpace()
      guard parser.take(UInt8(ascii: ":")) else { throw parser.malformed }
      parser.skipSpace()
      members[name] = try parser.value(depth: depth)
    }
    return members
  }

  private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
    var items: [JSONValue] = []
    try list(depth: depth, until: UInt8(ascii: "]")) { parser, depth throws(JSONError) in
      items.append(try parser.value(depth: depth))
    }
    return items
  }

  /// Reads the parts that an array and an object share: an opening byte, entries with commas between them, a closing one.
  private mutating func list(
    depth: Int, until end: UInt8, _ entry: (inout Self, _ depth: Int) throws(JSONError) -> Void
  ) throws(JSONError) {
    guard depth < JSONValue.maximumDepth else { throw malformed }
    position += 1
    skipSpace()
    if take(end) { return }
    repeat {
      skipSpace()
      try entry(&self, depth + 1)
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(end) else { throw malformed }
  }

  // MARK: Strings

  private mutating func string() throws(JSONError) -> String {
    position += 1
    let start = position
    while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
      position += 1
    }
    guard next == UInt8(ascii: "\\") else {
      let contents = text[start..<position]
      guard take(UInt8(ascii: "\"")) else { throw malformed }
      return try utf8(contents, from: start)
    }
    var contents = Array(text[start..<position])
    while let byte = next, byte >= 0x20 {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return try utf8(contents, from: start)
      case UInt8(ascii: "\\"): contents.append(contentsOf: String(try escape()).utf8)
      default: contents.append(byte)
      }
    }
    throw malformed
  }

  private func utf8(_ bytes: some Collection<UInt8>, from start: Int) throws(JSONError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed(offset: start) }
    return text
  }

  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    guard let byte = next else { throw malformed }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try escapedScalar()
    default: throw malformed
    }
  }

  /// A code unit in four hexadecimal digits, or a surrogate pair of two such escapes.
  private mutating func escapedScalar() throws(JSONError) -> Unicode.Scalar {
    let first = try codeUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard UTF16.isLeadSurrogate(first), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
      throw malformed
    }
    let second = try codeUnit()
    guard UTF16.isTrailSurrogate(second) else { throw malformed }
    return UTF16.decode(UTF16.EncodedScalar([first, second]))
  }

  private mutating func codeUnit() throws(JSONError) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch next {
      case let byte? where byte >= 0x30 && byte <= 0x39: digit = byte - 0x30
      case let byte? where byte | 0x20 >= 0x61 && byte | 0x20 <= 0x66: digit = byte | 0x20 - 0x57
      default: throw malformed
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }

  // MARK: Numbers and words

  private mutating func number() throws(JSONError) -> JSONValue {
    let start = position
    var isWhole = true
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    if take(UInt8(ascii: ".")) {
      isWhole = false
      try digits()
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      isWhole = false
      if !take(UInt8(ascii: "-")) { _ = take(UInt8(ascii: "+")) }
      try digits()
    }
    let digits = String(decoding: text[start..<position], as: UTF8.self)
    if isWhole, let number = Int(digits) { return .integer(number) }
    guard let number = Double(digits), number.isFinite else { throw .malformed(offset: start) }
    return .number(number)
  }

  private mutating func digits() throws(JSONError) {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw malformed }
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
    let isThere = word.withUTF8Buffer { text[position...].starts(with: $0) }
    guard isThere else { throw malformed }
    position += word.utf8CodeUnitCount
    return value
  }

  // MARK: Bytes

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
  }
}
