/// A field of a frame, and the property that holds it.
public struct RecordField<Record>: Sendable {
  enum Access: Sendable {
    case number(
      get: @Sendable (Record) -> Int, set: @Sendable (inout Record, Int) throws(RingFrameError) -> Void)
    case bytes(get: @Sendable (Record) -> [UInt8], set: @Sendable (inout Record, [UInt8]) -> Void)
  }

  public let field: FrameField
  let access: Access

  /// A number.
  ///
  /// - Parameters:
  ///   - limits: a frame with another number is refused
  ///   - settable: what it can be set to, if it is a setting's
  public init<Number: FixedWidthInteger & Sendable>(
    _ name: String, _ property: any WritableKeyPath<Record, Number> & Sendable, at offset: Int,
    _ form: WireForm = .uint8, _ unit: RingUnit? = nil, in limits: ClosedRange<Int>? = nil,
    words: [Int: String] = [:], settable: ClosedRange<Int>? = nil
  ) {
    self.init(
      FrameField(name, at: offset, form, unit, words: words, settable: settable),
      get: { Int(clamping: $0[keyPath: property]) },
      set: { (record, number) throws(RingFrameError) in
        guard limits?.contains(number) ?? true, let exact = Number(exactly: number) else {
          throw .value("\(name) can't be \(number)")
        }
        record[keyPath: property] = exact
      })
  }

  /// Yes or no; 1 and 0 unless `form` says otherwise.
  public init(
    _ name: String, _ property: any WritableKeyPath<Record, Bool> & Sendable, at offset: Int,
    _ form: WireForm = .flag(on: 1, off: 0)
  ) {
    self.init(
      FrameField(name, at: offset, form), get: { $0[keyPath: property] ? 1 : 0 },
      set: { (record, number) throws(RingFrameError) in record[keyPath: property] = number != 0 })
  }

  /// One of several things, told by a number.
  public init<Choice: RawRepresentable & Sendable>(
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

  /// Bytes that are no number.
  public init(
    _ name: String, _ property: any WritableKeyPath<Record, [UInt8]> & Sendable, at offset: Int, count: UInt8
  ) {
    field = FrameField(name, at: offset, .bytes(count))
    access = .bytes(get: { $0[keyPath: property] }, set: { $0[keyPath: property] = $1 })
  }

  /// A number that stands in the frame otherwise than in the record.
  public init(
    _ field: FrameField, get: @escaping @Sendable (Record) -> Int,
    set: @escaping @Sendable (inout Record, Int) throws(RingFrameError) -> Void
  ) {
    self.field = field
    access = .number(get: get, set: set)
  }
}
