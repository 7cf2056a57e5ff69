import BluetoothCore

/// A field of a frame, as people and tools are told of it.
public struct FrameField: Hashable, Sendable {
  /// `percent`; the same word in the program's records.
  public var name: String
  /// Counted from the command's byte, which is 0.
  public var offset: Int
  public var form: WireForm
  public var unit: RingUnit?
  /// What single numbers mean.
  public var words: [Int: String]
  /// What it can be set to. What a ring tells may be something else: many leave out what they do not know.
  public var settable: ClosedRange<Int>

  /// - Parameter settable: what it can be set to; by itself, whatever `form` can hold
  public init(
    _ name: String, at offset: Int, _ form: WireForm, _ unit: RingUnit? = nil, words: [Int: String] = [:],
    settable: ClosedRange<Int>? = nil
  ) {
    self.name = name
    self.offset = offset
    self.form = form
    self.unit = unit
    self.words = words
    self.settable = settable ?? form.numbers
  }

  /// The bytes of a frame that this field is made of.
  public var range: Range<Int> { offset..<offset + form.width }

  /// What a frame says here.
  public func value(in frame: RingFrame) -> FrameFieldValue {
    switch form {
    case .bytes: return .bytes(range.map(frame.byte(at:)))
    case .flag, .bit: return .flag(form.read(frame, at: offset) == 1)
    default:
      let number = form.read(frame, at: offset)
      return .number(number, unit, words[number])
    }
  }
}

/// What a frame says in one field.
public enum FrameFieldValue: Hashable, Sendable {
  /// A number, its unit, and the word for it.
  case number(Int, RingUnit?, String?)
  case flag(Bool)
  case bytes([UInt8])
}

extension FrameFieldValue: CustomStringConvertible {
  public var description: String {
    switch self {
    case .number(let number, _, let word?): "\(word) (\(number))"
    case .number(let number, let unit?, nil): "\(number) \(unit.rawValue)"
    case .number(let number, nil, nil): "\(number)"
    case .flag(let flag): flag ? "yes" : "no"
    case .bytes(let bytes): Hex.string(bytes, separator: " ")
    }
  }
}
