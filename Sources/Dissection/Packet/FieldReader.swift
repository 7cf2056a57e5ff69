import BluetoothCore
import HCI

/// Reads fields one after the other, and keeps what they said and where they stood.
struct FieldReader: ~Escapable {
  private(set) var fields: [PacketField] = []
  private var reader: ByteReader
  /// Where the reader's first byte stands in the bytes that the ranges point into.
  private let base: Int
  private let reference: String
  private var depth = 0

  /// - Parameters:
  ///   - range: what to read of `bytes`
  ///   - reference: the section of the specification that the fields are from
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, _ range: Range<Int>, reference: String) {
    let range = range.clamped(to: 0..<bytes.byteCount)
    reader = ByteReader(bytes.extracting(range))
    base = range.lowerBound
    self.reference = reference
  }

  var remaining: Int { reader.remaining }
  var isAtEnd: Bool { reader.isAtEnd }

  /// Adds a field that says something about bytes that were read already.
  mutating func note(_ name: String, _ value: String, from start: Int? = nil) {
    let end = base + reader.offset
    fields.append(
      PacketField(
        name, value, range: (start.map { base + $0 } ?? end)..<end, reference: reference, depth: depth))
  }

  /// Reads a group of fields one step deeper, below a field that names the whole.
  mutating func group(
    _ name: String, _ value: String = "", _ body: (inout FieldReader) throws(DecodeError) -> Void
  ) throws(DecodeError) {
    let index = fields.count
    let start = base + reader.offset
    fields.append(PacketField(name, value, range: start..<start, reference: reference, depth: depth))
    depth += 1
    defer {
      depth -= 1
      fields[index].range = start..<base + reader.offset
    }
    try body(&self)
  }

  /// Reads the fields of `body`; what it can't read, and what it leaves, become fields, too.
  mutating func readAll(_ body: (inout FieldReader) throws(DecodeError) -> Void) {
    do throws(DecodeError) {
      try body(&self)
      if !isAtEnd { rest("more bytes than known") }
    } catch {
      let start = reader.offset
      _ = reader.readRest()
      note("damaged", error.description, from: start)
    }
    depth = 0
  }

  // MARK: Values

  /// Reads any value and says it as `words` does.
  @discardableResult
  mutating func value<Value>(
    _ name: String, _ read: (inout ByteReader) throws(DecodeError) -> Value, words: (Value) -> String
  ) throws(DecodeError) -> Value {
    let start = reader.offset
    let value = try read(&reader)
    note(name, words(value), from: start)
    return value
  }

  /// Something that reads and describes itself.
  @discardableResult
  mutating func code<Code: HCICodable & CustomStringConvertible>(
    _ name: String, _ type: Code.Type
  ) throws(DecodeError) -> Code {
    try value(name, { reader throws(DecodeError) in try Code(parsing: &reader) }, words: \.description)
  }

  /// A byte; in words if `words` has some for it.
  @discardableResult
  mutating func uint8(
    _ name: String, unit: String = "", words: [UInt8: String] = [:]
  ) throws(DecodeError) -> UInt8 {
    try value(name, { reader throws(DecodeError) in try reader.readUInt8() }) {
      words[$0].map { word in "\(word)" } ?? "\($0)\(unit.isEmpty ? "" : " ")\(unit)"
    }
  }

  @discardableResult
  mutating func uint16(
    _ name: String, unit: String = "", words: [UInt16: String] = [:]
  ) throws(DecodeError) -> UInt16 {
    try value(name, { reader throws(DecodeError) in try reader.readUInt16() }) {
      words[$0].map { word in "\(word)" } ?? "\($0)\(unit.isEmpty ? "" : " ")\(unit)"
    }
  }

  /// A number that is no quantity, in hexadecimal digits.
  @discardableResult
  mutating func hex8(_ name: String) throws(DecodeError) -> UInt8 {
    try value(name, { reader throws(DecodeError) in try reader.readUInt8() }) { Hex.string($0) }
  }

  @discardableResult
  mutating func hex16(_ name: String) throws(DecodeError) -> UInt16 {
    try value(name, { reader throws(DecodeError) in try reader.readUInt16() }) { Hex.string($0) }
  }

  mutating func hex64(_ name: String) throws(DecodeError) {
    try value(name, { reader throws(DecodeError) in try reader.readUInt64() }) { Hex.string($0) }
  }

  mutating func uint24(_ name: String, unit: String) throws(DecodeError) {
    try value(name, { reader throws(DecodeError) in try reader.readUInt24() }) { "\($0) \(unit)" }
  }

  mutating func uint32(_ name: String) throws(DecodeError) {
    try value(name, { reader throws(DecodeError) in try reader.readUInt32() }) { "\($0)" }
  }

  /// In dBm; 127 says that nobody knows.
  mutating func power(_ name: String) throws(DecodeError) {
    try value(name, { reader throws(DecodeError) in try reader.readInt8() }) {
      $0 == .max ? "not known" : "\($0) dBm"
    }
  }

  mutating func flag(_ name: String) throws(DecodeError) {
    try uint8(name, words: [0: "no", 1: "yes"])
  }

  mutating func status() throws(DecodeError) {
    try code("status", HCIErrorCode.self)
  }

  mutating func connection() throws(DecodeError) {
    try code("connection handle", ConnectionHandle.self)
  }

  /// Six bytes of address.
  mutating func address(_ name: String) throws(DecodeError) {
    try value(
      name, { reader throws(DecodeError) in try BluetoothAddress(parsing: &reader, kind: .public) },
      words: \.description)
  }

  /// The type of an address, then its six bytes.
  mutating func typedAddress(_ name: String) throws(DecodeError) {
    let kind = try value(
      "\(name) type",
      { reader throws(DecodeError) in BluetoothAddress.Kind(rawValue: try reader.readUInt8()) },
      words: \.description)
    try value(
      name, { reader throws(DecodeError) in try BluetoothAddress(parsing: &reader, kind: kind) },
      words: \.description)
  }

  @discardableResult
  mutating func uuid(_ name: String, length: Int) throws(DecodeError) -> BluetoothUUID {
    try value(
      name, { reader throws(DecodeError) in try BluetoothUUID(parsing: &reader, length: length) },
      words: UUIDName.described)
  }

  mutating func bytes(_ name: String, _ count: Int) throws(DecodeError) {
    try value(name, { reader throws(DecodeError) in try reader.readBytes(count) }) {
      Hex.string($0, separator: " ")
    }
  }

  /// Text of `count` bytes that zeros end.
  mutating func text(_ name: String, _ count: Int) throws(DecodeError) {
    try value(name, { reader throws(DecodeError) in try reader.readBytes(count) }) {
      "\"" + String(printable: $0.prefix { $0 != 0 }) + "\""
    }
  }

  /// All bytes that are left; no field if there are none.
  mutating func rest(_ name: String) {
    guard !isAtEnd else { return }
    let start = reader.offset
    let bytes = reader.readRemainingBytes()
    note(name, Hex.string(bytes, separator: " "), from: start)
  }
}
