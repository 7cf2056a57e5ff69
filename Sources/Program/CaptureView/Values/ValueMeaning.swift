import ATT
import HaloBluetoothCore
import HaloDissection
import HaloGATT
import HaloLineOutput

/// What the bytes of a value say.
package struct ValueMeaning {
  /// The string that they spell; nil if they are no text.
  package var text: String?
  /// A value of the SIG in words: `87 percent`; nil if the type is not known, or is text.
  package var words: String?
  private let value: [UInt8]

  /// - Parameter uuid: that of the characteristic or descriptor; nil if it is not known
  package init(_ value: [UInt8], of uuid: BluetoothUUID?) {
    self.value = value
    if let type = uuid?.short, !CharacteristicValue.isText(type) {
      words = CharacteristicValue.text(value, type: type)
    }
    let printable = String(printable: value)
    let isTyped = uuid?.short.map(CharacteristicValue.isText) ?? false
    // One or two printable bytes are probably not text.
    let looksLikeText =
      printable.count > 2 && printable.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\\" }
    text = words == nil && !value.isEmpty && (isTyped || looksLikeText) ? printable : nil
  }

  private var meaning: String? { words ?? text.map { "\"\($0)\"" } }

  /// The bytes, and what they say.
  package var description: String {
    guard !value.isEmpty else { return "(empty)" }
    let digits = Hex.string(value, separator: " ")
    return meaning.map { "\(digits)  \($0)" } ?? digits
  }

  /// The same in short, for a table: what they say, else the bytes, at most 72 characters.
  package var brief: String {
    guard !value.isEmpty else { return "(empty)" }
    let full = meaning ?? Hex.string(value, separator: " ")
    return full.count <= 72 ? full : "\(full.prefix(64))… (\(value.count) bytes)"
  }
}

/// The columns of a value in a record.
package let valueColumns: [(name: String, unit: String?)] = [
  ("handle", nil), ("uuid", nil), ("value", nil), ("name", nil), ("text", nil), ("decoded", nil),
]

package func valueFields(
  _ handle: AttributeHandle, _ uuid: BluetoothUUID?, _ value: [UInt8], _ meaning: ValueMeaning
) -> [Field] {
  [
    .number(Int(handle.rawValue)), .text(uuid?.description), .text(Hex.string(value)),
    .text(uuid.flatMap { GATTUUID.attributeName(of: $0) }), .text(meaning.text), .text(meaning.words),
  ]
}
