import HaloBluetoothCore

/// The description of a frame's field, for users and tools. A class, as it is read for each frame: only its reference is
/// copied.
package final class FrameField: Hashable, Sendable {
  /// `percent`: as shown and as an option; the same name as in the program's records.
  package let name: String
  /// Counted from the command's byte, which is 0.
  package let offset: Int
  package let form: WireForm
  package let unit: RingUnit?
  /// The names of individual numbers.
  package let words: [Int: String]
  /// The values to which it can be set. Rings may report others: many leave out fields that they do not support.
  package let settable: ClosedRange<Int>
  /// The values that are a ring's own; with any other one, the ring has left the field out.
  let believed: ClosedRange<Int>
  /// The value of a setting if the user has not chosen one.
  package let usual: Int
  /// The only source of the field; nil if there are better ones.
  package let loneSource: LoneSource?
  /// The only sources of single ``words``.
  let loneWords: [Int: LoneSource]

  /// By default it can be set to all that `form` can hold, and all to which it can be set is believed.
  package init(
    _ name: String, at offset: Int, _ form: WireForm = .uint8, _ unit: RingUnit? = nil,
    words: [Int: String] = [:], settable: ClosedRange<Int>? = nil, believed: ClosedRange<Int>? = nil,
    usual: Int = 0, loneSource: LoneSource? = nil, loneWords: [Int: LoneSource] = [:]
  ) {
    self.name = name
    self.offset = offset
    self.form = form
    self.unit = unit
    self.words = words
    self.settable = settable ?? form.numbers
    self.believed = believed ?? self.settable
    self.usual = usual
    self.loneSource = loneSource
    self.loneWords = loneWords
  }

  package static func == (left: FrameField, right: FrameField) -> Bool {
    left === right
      || left.name == right.name && left.offset == right.offset && left.form == right.form
        && left.unit == right.unit && left.words == right.words && left.settable == right.settable
        && left.believed == right.believed && left.usual == right.usual
        && left.loneSource == right.loneSource && left.loneWords == right.loneWords
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(offset)
  }

  /// The bytes of a frame that this field is made of.
  package var range: Range<Int> { offset..<offset + form.width }

  /// The contents of a frame.
  package func value(in frame: RingFrame) -> FrameFieldValue {
    switch form {
    case .bytes: return .bytes(range.map(frame.byte(at:)))
    case .flag, .bit: return .flag(form.read(frame, at: offset) == 1)
    default:
      let number = form.read(frame, at: offset)
      return .number(number, unit, words[number])
    }
  }
}

/// The contents of one field.
package enum FrameFieldValue: Hashable, Sendable, TextWritable {
  /// A number, its unit, and its symbol.
  case number(Int, RingUnit?, String?)
  case flag(Bool)
  case bytes([UInt8])

  package func write(to text: inout TextBuffer) {
    switch self {
    case .number(let number, _, let word?):
      text.write(word)
      text.write(" (")
      text.write(number)
      text.write(")")
    case .number(let number, let unit, nil):
      text.write(number)
      guard let unit else { return }
      text.write(" ")
      text.write(unit.rawValue)
    case .flag(let flag): text.write(flag ? "yes" : "no")
    case .bytes(let bytes): text.writeSpacedHex(bytes.span.bytes)
    }
  }
}

/// One of the forms that the frames of a command have.
package struct FrameForm: Hashable, Sendable {
  /// A byte that distinguishes this form from the others.
  package struct Mark: Hashable, Sendable {
    package var offset: Int
    /// The value of the byte.
    package var byte: UInt8
  }

  /// `reading`, `header`, `no data`.
  package var name: String
  /// All of them are there; a frame without is of another form.
  package var marks: [Mark]
  package var fields: [FrameField]

  /// - Parameters:
  ///   - name: as shown
  ///   - bytes: the bytes behind that of the command in every frame of this form
  ///   - fields: in the order of their offsets
  package init(_ name: String, startingWith bytes: [UInt8] = [], _ fields: [FrameField] = []) {
    self.name = name
    marks = bytes.enumerated().map { Mark(offset: $0.offset + 1, byte: $0.element) }
    self.fields = fields
  }

  /// The answer of a log: the ring has no data of that day.
  static let noData = FrameForm("no data", startingWith: [0xFF])

  /// The form of a record that follows `bytes`.
  init<Record: FrameRecord>(_ name: String, startingWith bytes: [UInt8] = [], _ record: Record.Type) {
    self.init(name, startingWith: bytes, record.fields.map(\.field))
  }

  package func matches(_ frame: RingFrame) -> Bool {
    marks.allSatisfy { frame.byte(at: $0.offset) == $0.byte }
  }
}

/// The encoding of a field in a frame.
package enum WireForm: Hashable, Sendable, CustomStringConvertible {
  /// A number without a sign, of 1 to 4 bytes.
  case integer(bytes: Int, isBigEndian: Bool)
  /// Two decimal digits, one in each half of a byte. A half above 9 makes the byte 0, as ring firmware reads it.
  case bcd
  /// A flag byte: `on` means yes; any other value means no, and `off` is written for it.
  case flag(on: UInt8, off: UInt8)
  /// A bit of a byte, 0 the least significant.
  case bit(UInt8)
  /// Consecutive bytes that are not a number.
  case bytes(UInt8)

  package static let uint8 = WireForm.integer(bytes: 1, isBigEndian: false)
  package static let uint16LittleEndian = WireForm.integer(bytes: 2, isBigEndian: false)
  package static let uint16BigEndian = WireForm.integer(bytes: 2, isBigEndian: true)
  package static let uint24LittleEndian = WireForm.integer(bytes: 3, isBigEndian: false)
  package static let uint24BigEndian = WireForm.integer(bytes: 3, isBigEndian: true)
  package static let uint32LittleEndian = WireForm.integer(bytes: 4, isBigEndian: false)
  package static let uint32BigEndian = WireForm.integer(bytes: 4, isBigEndian: true)

  /// In bytes.
  package var width: Int {
    switch self {
    case .integer(let bytes, _): bytes
    case .bcd, .flag, .bit: 1
    case .bytes(let count): Int(count)
    }
  }

  /// The range of valid numbers.
  package var numbers: ClosedRange<Int> {
    switch self {
    case .integer(let bytes, _): 0...(1 << (bytes * 8)) - 1
    case .flag, .bit: 0...1
    case .bcd: 0...99
    case .bytes: 0...0
    }
  }

  /// The number at `offset`; a flag or a bit is 0 or 1. Bytes beyond the frame are 0.
  package func read(_ frame: RingFrame, at offset: Int) -> Int {
    let byte = frame.byte(at: offset)
    switch self {
    case .bcd: return byte >> 4 > 9 || byte & 15 > 9 ? 0 : Int(byte >> 4) * 10 + Int(byte & 15)
    case .flag(let on, _): return byte == on ? 1 : 0
    case .bit(let bit): return Int(byte >> (bit & 7)) & 1
    case .bytes: return 0
    case .integer(let width, let isBigEndian):
      var number = 0
      for index in 0..<width {
        number = number << 8 | Int(frame.byte(at: offset + (isBigEndian ? index : width - 1 - index)))
      }
      return number
    }
  }

  /// Puts a number where zeros are, cut to the size of the field.
  func write(_ value: Int, into frame: inout RingFrame, at offset: Int) {
    switch self {
    case .bcd:
      let value = Swift.min(Swift.max(value, 0), 99)
      frame.store(UInt8((value / 10) << 4 | value % 10), at: offset)
    case .flag(let on, let off): frame.store(value != 0 ? on : off, at: offset)
    case .bit(let bit): frame.store(value != 0 ? 1 << (bit & 7) : 0, at: offset)
    case .bytes: break
    case .integer(let width, let isBigEndian):
      let value = Swift.min(Swift.max(value, 0), numbers.upperBound)
      for index in 0..<width {
        let place = isBigEndian ? width - 1 - index : index
        frame.store(UInt8(truncatingIfNeeded: value >> (place * 8)), at: offset + index)
      }
    }
  }

  package var description: String {
    switch self {
    case .integer(let bytes, let isBigEndian):
      "u\(bytes * 8)" + (bytes == 1 ? "" : isBigEndian ? " BE" : " LE")
    case .bcd: "BCD"
    case .flag(let on, let off): "\(on) yes, \(off) no"
    case .bit(let bit): "bit \(bit)"
    case .bytes(let count): "\(count) bytes"
    }
  }
}

/// The unit of a number. Every field of the command table that has a unit uses one of these.
public enum RingUnit: String, Hashable, Sendable {
  case beatsPerMinute = "bpm"
  /// Small calories, as the ring counts them: 1000 make a kilocalorie.
  case calories = "cal"
  case centimeters = "cm"
  case centimetersPerSecond = "cm/s"
  case days = "d"
  case degreesCelsius = "°C"
  case hundredthsOfDegree = "hundredths of a °C"
  case kilograms = "kg"
  case meters = "m"
  case milliseconds = "ms"
  case millimetersOfMercury = "mmHg"
  case minutes = "min"
  case percent = "%"
  case seconds = "s"
  case steps = "steps"
  case tenthsOfDegreeAbove20 = "tenths of a °C above 20"
  case years = "y"
}
