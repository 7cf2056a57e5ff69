import BluetoothCore
import Dissection

/// What packets have in common, and a page says only once: texts, and how the fields of a layer lie in its
/// bytes.
///
/// The page counts along (PageScript+Session.swift): what is written in full for the first time gets the next
/// number, until the table is full. So a page is written in one go, and the table's size is bounded.
struct PageTable {
  static let capacity = 1 << 14
  /// Shorter texts are not worth a number; longer ones seldom come again. In UTF-16 units, as the page counts.
  static let lengths = 4...80

  /// The fields of a layer but for their values.
  struct Shape: Hashable {
    struct Field: Hashable {
      var name: String
      var reference: String
      var depth: Int
      var range: Range<Int>

      init(_ field: PacketField) {
        name = field.name
        reference = field.reference
        depth = field.depth
        range = field.range
      }
    }

    var layer: Layer
    var fields: [Field]
  }

  private var texts: [String: Int] = [:]
  private var shapes: [Shape: Int] = [:]

  /// The number of a text that was written before; nil if it has to be written now.
  mutating func number(of text: String) -> Int? {
    if let number = texts[text] { return number }
    if texts.count < Self.capacity, Self.lengths.contains(text.utf16.count) { texts[text] = texts.count }
    return nil
  }

  /// The same for a shape.
  mutating func number(of shape: Shape) -> Int? {
    if let number = shapes[shape] { return number }
    if shapes.count < Self.capacity { shapes[shape] = shapes.count }
    return nil
  }
}
