/// A value in one frame. The ``fields`` that a type lists are its complete description: frames are parsed and written
/// with them, and the reference and the explanations are generated from them.
package protocol FrameRecord: Hashable, Sendable {
  static var fields: Fields { get }
}

extension FrameRecord {
  package typealias Fields = FrameFields<Self>

  /// A record with the usual values.
  package static var usual: Self { fields.usual }

  /// Parses a frame. The caller has to know the command.
  package init(parsing frame: RingFrame) throws(RingFrameError) {
    self = Self.usual
    try Self.fields.read(frame, into: &self)
  }

  /// The names of the flags that are set: `touch`, `gesture`.
  package var features: [String] {
    Self.fields.compactMap { field in
      guard field.field.isFlag, case .number(let get, _) = field.access, get(self) != 0 else { return nil }
      return field.field.name
    }
  }
}

/// The fields of a record in their order.
package struct FrameFields<Record: Sendable>: RandomAccessCollection, Sendable {
  /// The values that a record has before it is read.
  let usual: Record
  private let fields: [RecordField<Record>]

  init(_ usual: Record, @LayoutBuilder<RecordField<Record>> _ fields: () -> [RecordField<Record>]) {
    self.usual = usual
    self.fields = fields()
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { fields.count }
  package subscript(index: Int) -> RecordField<Record> { fields[index] }

  /// Reads a frame of one command.
  func read(_ frame: RingFrame, of command: RingCommand) throws(RingFrameError) -> Record {
    guard frame.command == command else { throw .unexpected(frame.command) }
    var record = usual
    try read(frame, into: &record)
    return record
  }
}

/// Makes a list of the fields that stand one below the other.
@resultBuilder enum LayoutBuilder<Field> {
  static func buildExpression(_ field: Field) -> Field { field }
  static func buildBlock(_ fields: Field...) -> [Field] { fields }
}

extension Collection {
  func read<Record>(_ frame: RingFrame, into record: inout Record) throws(RingFrameError)
  where Element == RecordField<Record> {
    for field in self {
      switch field.access {
      case .number(_, let set): try set(&record, field.field.form.read(frame, at: field.field.offset))
      case .bytes(_, let set): set(&record, field.field.range.map(frame.byte(at:)))
      }
    }
  }

  /// Writes all fields into a frame that is zero there.
  func store<Record>(_ record: Record, in frame: inout RingFrame) where Element == RecordField<Record> {
    for field in self {
      switch field.access {
      case .number(let get, _): field.field.form.write(get(record), into: &frame, at: field.field.offset)
      case .bytes(let get, _): frame.store(get(record).prefix(field.field.form.width), at: field.field.offset)
      }
    }
  }
}

extension RingFrame {
  /// The frame that carries a record, in one of the command's forms.
  init<Record: FrameRecord>(_ command: RingCommand, _ record: Record, form: FrameForm? = nil) {
    self.init(command, form) { Record.fields.store(record, in: &$0) }
  }

  init(_ command: RingCommand, _ form: FrameForm?, fill: (inout RingFrame) -> Void) {
    self.init(command) {
      for mark in form?.marks ?? [] { $0.store(mark.byte, at: mark.offset) }
      fill(&$0)
    }
  }
}

/// For a command without parameters.
package struct NoFields: FrameRecord {
  package static let fields: Fields = Fields(Self()) {}
}

/// A field of a frame, and the property that holds it.
package struct RecordField<Record>: Sendable {
  enum Access: Sendable {
    case number(
      get: @Sendable (Record) -> Int, set: @Sendable (inout Record, Int) throws(RingFrameError) -> Void)
    case bytes(get: @Sendable (Record) -> [UInt8], set: @Sendable (inout Record, [UInt8]) -> Void)
  }

  package let field: FrameField
  let access: Access

  init(_ field: FrameField, _ access: Access) {
    self.field = field
    self.access = access
  }

  /// A number; see ``FrameField``. A frame with a number outside its limits is refused.
  package init<Number: FixedWidthInteger & Sendable>(
    _ name: String, _ property: any WritableKeyPath<Record, Number> & Sendable, at offset: Int,
    _ form: WireForm = .uint8, _ unit: RingUnit? = nil, in limits: ClosedRange<Int>? = nil,
    words: [Int: String] = [:]
  ) {
    self.init(
      FrameField(name, at: offset, form, unit, words: words),
      get: { Int(clamping: $0[keyPath: property]) },
      set: { (record, number) throws(RingFrameError) in
        guard limits?.contains(number) ?? true, let exact = Number(exactly: number) else {
          throw .value("\(name) can't be \(number)")
        }
        record[keyPath: property] = exact
      })
  }

  /// A flag; 1 and 0 unless `form` defines otherwise.
  package init(
    _ name: String, _ property: any WritableKeyPath<Record, Bool> & Sendable, at offset: Int,
    _ form: WireForm = .flag(on: 1, off: 0)
  ) {
    self.init(
      FrameField(name, at: offset, form), get: { $0[keyPath: property] ? 1 : 0 },
      set: { (record, number) throws(RingFrameError) in record[keyPath: property] = number != 0 })
  }

  /// An enumeration, encoded as a number.
  package init<Choice: RawRepresentable & Sendable>(
    _ name: String, _ property: any WritableKeyPath<Record, Choice> & Sendable, at offset: Int,
    words: [Int: String] = [:]
  ) where Choice.RawValue == UInt8 {
    self.init(
      FrameField(name, at: offset, .uint8, words: words), get: { Int($0[keyPath: property].rawValue) },
      set: { (record, number) throws(RingFrameError) in
        guard let raw = UInt8(exactly: number), let choice = Choice(rawValue: raw) else {
          throw .value("\(name) can't be \(number)")
        }
        record[keyPath: property] = choice
      })
  }

  /// Bytes that are not a number.
  package init(
    _ name: String, _ property: any WritableKeyPath<Record, [UInt8]> & Sendable, at offset: Int, count: UInt8
  ) {
    field = FrameField(name, at: offset, .bytes(count))
    access = .bytes(get: { $0[keyPath: property] }, set: { $0[keyPath: property] = $1 })
  }

  /// The 16-bit value of a ``FramePlace``.
  init(_ place: FramePlace, _ property: any WritableKeyPath<Record, UInt16> & Sendable) {
    self.init("\(place.name)", property, at: place.offset, .uint16BigEndian)
  }

  /// The 16-bit value of a ``FramePlace`` whose bytes alone are not a number.
  init(bytesOf place: FramePlace, _ property: any WritableKeyPath<Record, UInt16> & Sendable) {
    field = FrameField("\(place.name)", at: place.offset, .bytes(2))
    access = .bytes(
      get: { [UInt8($0[keyPath: property] >> 8), UInt8(truncatingIfNeeded: $0[keyPath: property])] },
      set: { $0[keyPath: property] = $1.reduce(0) { $0 << 8 | UInt16($1) } })
  }

  /// A number whose encoding in the frame differs from the record.
  package init(
    _ field: FrameField, get: @escaping @Sendable (Record) -> Int,
    set: @escaping @Sendable (inout Record, Int) throws(RingFrameError) -> Void
  ) {
    self.field = field
    access = .number(get: get, set: set)
  }
}

/// A place in a frame that is known at compile time. Streams are read with these, with a few shifts; the
/// ``RecordField`` of the same place documents and writes it.
struct FramePlace: Sendable {
  let name: StaticString
  let offset: Int

  /// Two bytes, big-endian.
  @inline(__always)
  func word(_ frame: RingFrame) -> UInt16 { frame.uint16BigEndian(at: offset) }

  /// Two bytes, little-endian.
  @inline(__always)
  func littleEndianWord(_ frame: RingFrame) -> UInt16 {
    UInt16(frame.byte(at: offset + 1)) << 8 | UInt16(frame.byte(at: offset))
  }

  /// A byte that is 1 for yes.
  @inline(__always)
  func flag(_ frame: RingFrame) -> Bool { frame.byte(at: offset) == 1 }
}

extension FrameFields where Record: FixedWidthInteger {
  /// A single number; see ``RecordField``.
  static func number(
    _ name: String = "value", at offset: Int, _ form: WireForm = .uint8, _ unit: RingUnit? = nil,
    words: [Int: String] = [:]
  ) -> Self {
    Self(0) { RecordField(name, \.self, at: offset, form, unit, words: words) }
  }
}
