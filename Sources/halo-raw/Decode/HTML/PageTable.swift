import BluetoothCore
import Dissection

/// Texts and shapes that repeat in the packets of a report; each is written in full only once.
///
/// What is written in full gets the next number, until the table is full. The script assigns the same numbers while it
/// reads (packets.js). Thus a report is written in one pass, and the size of the table is bounded.
struct PageTable {
  /// The most texts, and the most shapes.
  static let capacity = 1 << 14
  /// The lengths of the texts that get a number, in UTF-16 units, as JavaScript counts. Shorter ones save nothing;
  /// longer ones seldom repeat.
  static let lengths = 4...80

  /// The fields of a layer without their values.
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

  /// The number of a text; nil if it must be written in full.
  mutating func number(of text: String) -> Int? {
    if let number = texts[text] { return number }
    if texts.count < Self.capacity, Self.lengths.contains(text.utf16.count) { texts[text] = texts.count }
    return nil
  }

  /// The number of a shape; nil if it must be written in full.
  mutating func number(of shape: Shape) -> Int? {
    if let number = shapes[shape] { return number }
    if shapes.count < Self.capacity { shapes[shape] = shapes.count }
    return nil
  }
}
