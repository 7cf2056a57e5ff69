/// The names that the Bluetooth SIG has assigned to numbers (Assigned Numbers). They are constants of the program: a
/// look-up is a binary search in them, and allocates only the name.
package enum AssignedNumbers {
  /// The name of a UUID of 16 bits: a service, a characteristic, a descriptor, a protocol or a service class.
  package static func uuid(_ number: UInt16) -> String? { name(of: number, in: AssignedNumbersTable.uuids) }

  /// The name of a company.
  package static func company(_ number: UInt16) -> String? {
    name(of: number, in: AssignedNumbersTable.companies)
  }

  /// The name of an appearance: its category, and its subcategory if it has one with a name.
  package static func appearance(_ number: UInt16) -> String? {
    let table = AssignedNumbersTable.appearances
    return name(of: number, in: table) ?? name(of: number & 0xFFC0, in: table)
  }

  /// - Parameter table: see ``AssignedNumbersTable``
  private static func name(of wanted: UInt16, in table: StaticString) -> String? {
    table.withUTF8Buffer { text -> String? in
      // The entry is in low..<high, which begins and ends with an entry.
      var (low, high) = (0, text.count)
      while low < high {
        let middle = (low + high) / 2
        var start = middle
        while start > low, text[start - 1] != separator { start -= 1 }
        guard start + digits <= high else { return nil }
        var number: UInt16 = 0
        for index in start..<start + digits { number = number << 4 | value(of: text[index]) }
        if number > wanted {
          high = start
          continue
        }
        var end = middle
        while end < high, text[end] != separator { end += 1 }
        if number == wanted { return String(decoding: text[min(start + digits, end)..<end], as: UTF8.self) }
        low = min(end + 1, high)
      }
      return nil
    }
  }

  private static let separator = UInt8(ascii: "\t")
  /// The hexadecimal digits of a number in the table.
  private static let digits = 4

  private static func value(of digit: UInt8) -> UInt16 {
    UInt16(digit < UInt8(ascii: "A") ? digit &- UInt8(ascii: "0") : digit &- UInt8(ascii: "A") &+ 10)
  }
}
