import HaloBluetoothCore

/// A time that HCI counts in steps.
package protocol TimeInSteps: HCICode, Comparable where RawValue == UInt16 {
  /// The length of a step, in microseconds.
  static var step: Int64 { get }
  /// The numbers of steps that a host may request. Values outside are preserved in reading, as an event may contain
  /// them.
  static var legalRange: ClosedRange<UInt16> { get }
}

extension TimeInSteps {
  /// The nearest time that a host may request: rounded to whole steps, clamped to ``legalRange``.
  package init(_ duration: Duration) {
    let step = Self.step * 1000
    let nanoseconds = duration.wholeNanoseconds
    let steps = nanoseconds / step + (nanoseconds % step * 2 >= step ? 1 : 0)
    let legal = Int64(Self.legalRange.lowerBound)...Int64(Self.legalRange.upperBound)
    self.init(rawValue: UInt16(truncatingIfNeeded: min(max(steps, legal.lowerBound), legal.upperBound)))
  }

  package var duration: Duration { .microseconds(Int64(rawValue) * Self.step) }

  package var isLegal: Bool { Self.legalRange.contains(rawValue) }

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// Milliseconds, with as many decimals as needed: `18.75 ms`.
  package var description: String { TextBuffer.string { writeField(to: &$0) } }

  package func writeField(to text: inout TextBuffer) {
    if let word = Self.names[rawValue] { return text.write(word) }
    var (number, places) = (Int64(rawValue) * Self.step, 3)
    while places > 0, number % 10 == 0 {
      number /= 10
      places -= 1
    }
    if places == 0 { text.write(Int(number)) } else { text.write(number, places: places) }
    text.write(" ms")
  }
}

/// The time between two connection events, in steps of 1.25 ms: 7.5 ms to 4 s
/// (Core Specification Vol 4, Part E, 7.8.12).
package struct ConnectionInterval: TimeInSteps {
  package var rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package static let step: Int64 = 1250
  package static let legalRange: ClosedRange<UInt16> = 0x0006...0x0C80
}

/// How long a link may be silent before it is lost, in steps of 10 ms: 100 ms to 32 s (7.8.12).
package struct SupervisionTimeout: TimeInSteps {
  package var rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package static let step: Int64 = 10_000
  package static let legalRange: ClosedRange<UInt16> = 0x000A...0x0C80
}

/// A scan interval or scan window, in steps of 0.625 ms: 2.5 ms to 10.24 s, the range of the legacy command (7.8.10).
/// The extended command allows more, which is not used.
package struct ScanInterval: TimeInSteps {
  package var rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package static let step: Int64 = 625
  package static let legalRange: ClosedRange<UInt16> = 0x0004...0x4000

  /// The longest window that has room in this interval, beside one on LE Coded if there is one.
  func longestWindow(besideCoded includesCoded: Bool) -> ScanInterval {
    includesCoded ? ScanInterval(rawValue: rawValue / 2) : self
  }
}

/// The time between two advertising events, in steps of 0.625 ms: 20 ms to 10.24 s (7.8.5).
package struct AdvertisingInterval: TimeInSteps {
  package var rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package static let step: Int64 = 625
  package static let legalRange: ClosedRange<UInt16> = 0x0020...0x4000
}

/// The time between two periodic advertising events, in steps of 1.25 ms; zero means that there are none (7.7.65.13).
package struct PeriodicAdvertisingInterval: TimeInSteps {
  package var rawValue: UInt16
  package static let names: [UInt16: String] = [0: "none"]
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package static let step: Int64 = 1250
  package static let legalRange: ClosedRange<UInt16> = 0x0006...0xFFFF
}

/// The requested length of a connection event, in steps of 0.625 ms; zero lets the controller choose (7.8.12).
package struct ConnectionEventLength: TimeInSteps {
  package var rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package static let step: Int64 = 625
  package static let legalRange: ClosedRange<UInt16> = 0x0000...0xFFFF
}

/// How long an extended scan lasts, in steps of 10 ms; zero scans until it is disabled (7.8.65).
package struct ScanDuration: TimeInSteps {
  package var rawValue: UInt16
  package static let names: [UInt16: String] = [0: "until stopped"]
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package static let step: Int64 = 10_000
  package static let legalRange: ClosedRange<UInt16> = 0x0000...0xFFFF
}

/// The time from the start of one extended scan to the start of the next, in steps of 1.28 s; zero scans
/// without pause (7.8.65).
package struct ScanPeriod: TimeInSteps {
  package var rawValue: UInt16
  package static let names: [UInt16: String] = [0: "continuous"]
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package static let step: Int64 = 1_280_000
  package static let legalRange: ClosedRange<UInt16> = 0x0000...0xFFFF
}

/// The time between two events of extended advertising, in steps of 0.625 ms: 20 ms to 10485 s, three bytes (7.8.53).
package struct ExtendedAdvertisingInterval: FieldValue, Hashable {
  /// In steps.
  package var steps: UInt24

  package init() { steps = UInt24() }

  package init(_ interval: AdvertisingInterval) { steps = UInt24(UInt32(interval.rawValue)) }

  package init(parsing reader: inout ByteReader) throws(DecodeError) {
    steps = try UInt24(parsing: &reader)
  }

  package func write(into writer: inout ByteWriter) { steps.write(into: &writer) }

  package var fieldNumber: UInt64? { steps.fieldNumber }

  package var description: String { DecimalText.string(Int64(steps.value) * 625, places: 3) + " ms" }
}
