import Testing

@testable import RingLink

/// Numbers at the limits of their forms.
@Suite struct WireFormTests {
  @Test(arguments: [
    (WireForm.uint8, 0xFF), (.uint16LittleEndian, 0xFFFF), (.uint16BigEndian, 0xFFFF),
    (.uint24LittleEndian, 0xFF_FFFF), (.uint24BigEndian, 0xFF_FFFF), (.uint32LittleEndian, 0xFFFF_FFFF),
    (.uint32BigEndian, 0xFFFF_FFFF), (.bcd, 99), (.flag(on: 1, off: 2), 1), (.bit(3), 1),
  ])
  func theLargestNumberIsKeptAndALargerOneIsCut(_ form: WireForm, _ largest: Int) {
    #expect(form.numbers == 0...largest)
    for (value, kept) in [
      (largest, largest), (largest + 1, largest), (.max, largest), (0, 0), (-1, 0),
      (largest - 1, largest - 1),
    ] {
      var frame = RingFrame(0x03)
      form.write(value, into: &frame, at: 4)
      // A flag is on for every number but zero.
      let isOn = value != 0
      let expected: Int =
        switch form {
        case .flag, .bit: isOn ? 1 : 0
        default: kept
        }
      #expect(form.read(frame, at: 4) == expected, "\(form) \(value)")
      // The bytes around it stay.
      #expect(frame.byte(at: 3) == 0 && frame.byte(at: 4 + form.width) == 0)
    }
  }

  @Test func theOrderOfTheBytesIsTheForms() {
    let number = 0x0102_0304
    let orders: [(WireForm, [UInt8])] = [
      (.uint32BigEndian, [1, 2, 3, 4]), (.uint32LittleEndian, [4, 3, 2, 1]), (.bcd, [0x99, 0, 0, 0]),
    ]
    for (form, bytes) in orders {
      var frame = RingFrame(0x03)
      form.write(number, into: &frame, at: 2)
      #expect((2..<6).map { frame.byte(at: $0) } == bytes)
    }
  }

  /// A byte with a digit above 9 is no number.
  @Test(arguments: [(UInt8(0x59), 59), (0x00, 0), (0x99, 99), (0x5A, 0), (0xA5, 0), (0x90, 90)])
  func digitsAreDecimal(_ byte: UInt8, _ number: Int) {
    var frame = RingFrame(0x03)
    WireForm.uint8.write(Int(byte), into: &frame, at: 1)
    #expect(WireForm.bcd.read(frame, at: 1) == number)
  }
}
