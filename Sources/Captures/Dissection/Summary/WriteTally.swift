import ATT

/// Writes that are alike: to the same attribute, of the same length, and with the same command, as far as the bytes show it.
package struct WrittenForm: Hashable, Sendable {
  /// The notifications or indications of a characteristic that followed.
  package struct Answer: Hashable, Sendable {
    package var operation: ATTOpcode
    package var handle: AttributeHandle?
    package var pattern: BytePattern
  }

  package var handle: AttributeHandle
  /// The name of the attribute; nil if it was not discovered.
  package var name: String?
  package var operation: ATTOpcode
  /// The values, with how often each was written.
  package var pattern = BytePattern()
  /// How many of the values are distinct; nil for those that were not kept apart, as they are too many.
  package var distinct: Int? = 0
  /// The meaning of the value, if there is one only; nil if it is not known.
  package var words: String?
  /// See `WriteHistory`.
  package var answers: [Answer] = []
  /// The first of them in the capture: a number for the order.
  var order = Int.max
}

/// The writes to attributes, value by value, and the answers. Bounded: of each attribute, the first values are kept apart; the
/// others are counted together.
struct WriteTally: Sendable {
  static let attributeCapacity = 512
  /// The most values of an attribute, and of all.
  static let valueCapacity = (ofAttribute: 256, all: 8192)
  /// The writes whose answers are recognized: at least as many, and at most twice as many.
  private static let recentCapacity = 4096

  struct Place: Hashable {
    var device: DeviceKey
    /// Whether the attribute is one of the host, or of the central on the air.
    var isLocal: Bool
    var handle: AttributeHandle
    var operation: ATTOpcode
  }

  private struct Value: Hashable {
    var attribute: Int
    /// The first bytes.
    var bytes: [UInt8]
    var length: Int
  }

  private struct Entry {
    var value: Value
    var count = 0
    var words: String?
    var answers: [WrittenForm.Answer] = []
  }

  private struct Attribute {
    var name: String?
    var entries: [Int] = []
    /// The values that are not kept apart.
    var rest = BytePattern()
  }

  private var attributes = BoundedTable<Place, Attribute>(capacity: attributeCapacity)
  private var entries: [Entry] = []
  private var known: [Value: Int] = [:]
  /// The entries of writes, by the number of the packet; and of those before.
  private var recent: [Int: Int] = [:]
  private var older: [Int: Int] = [:]
  /// The number of writes to attributes that there was no room for.
  var overflow: Int { attributes.overflow }

  /// Adds a write.
  mutating func add(_ value: AttributeValue, _ packet: DissectedPacket, at place: Place) {
    guard let index = attributes.index(of: place, default: Attribute()) else { return }
    if let name = packet.gatt?.attribute?.name { attributes[at: index].name = name }
    var key = Value(attribute: index, bytes: value.bytes, length: value.bytes.count)
    if key.length > BytePattern.capacity { key.bytes.removeLast(key.length - BytePattern.capacity) }
    guard let entry = known[key] ?? begin(key, packet) else {
      attributes[at: index].rest.add(value.bytes.span.bytes, length: value.bytes.count)
      return
    }
    entries[entry].count += 1
    if recent.count >= Self.recentCapacity { (older, recent) = (recent, [:]) }
    recent[packet.info.number] = entry
  }

  /// - Returns: nil if there are too many
  private mutating func begin(_ value: Value, _ packet: DissectedPacket) -> Int? {
    guard entries.count < Self.valueCapacity.all,
      attributes[at: value.attribute].entries.count < Self.valueCapacity.ofAttribute
    else { return nil }
    var entry = Entry(value: value)
    if packet.ring != nil { entry.words = packet.summary(of: .ring) }
    entries.append(entry)
    known[value] = entries.count - 1
    attributes[at: value.attribute].entries.append(entries.count - 1)
    return entries.count - 1
  }

  /// Adds a notification or an indication that answers the write in a packet.
  mutating func addAnswer(_ value: AttributeValue, to packet: Int) {
    guard let entry = recent[packet] ?? older[packet] else { return }
    entries[entry].answers.add(value.operation, value.handle) {
      $0.add(value.bytes.span.bytes, length: value.bytes.count)
    }
  }

  /// The writes to the attributes of a device: those of an attribute together, most frequent first.
  func forms(of device: DeviceKey, isLocal: Bool) -> [WrittenForm] {
    attributes.entries.filter { $0.key.device == device && $0.key.isLocal == isLocal }
      .flatMap { forms($0.key, $0.value) }.sorted {
        ($0.handle, $1.pattern.count, $0.order) < ($1.handle, $0.pattern.count, $1.order)
      }
  }

  private func forms(_ place: Place, _ attribute: Attribute) -> [WrittenForm] {
    var byLength: [Int: [Int]] = [:]
    for index in attribute.entries { byLength[entries[index].value.length, default: []].append(index) }
    var forms = byLength.values.flatMap { split($0, into: Self.mostForms) }.map {
      form(of: $0, place, attribute.name)
    }
    if attribute.rest.count > 0 {
      var rest = WrittenForm(handle: place.handle, name: attribute.name, operation: place.operation)
      (rest.pattern, rest.distinct) = (attribute.rest, nil)
      forms.append(rest)
    }
    return forms
  }

  private func form(of indexes: [Int], _ place: Place, _ name: String?) -> WrittenForm {
    var form = WrittenForm(handle: place.handle, name: name, operation: place.operation)
    form.distinct = indexes.count
    for index in indexes.sorted() {
      let entry = entries[index]
      form.pattern.add(entry.value.bytes.span.bytes, length: entry.value.length, times: entry.count)
      for answer in entry.answers {
        form.answers.add(answer.operation, answer.handle) { $0.add(answer.pattern) }
      }
      form.order = min(form.order, index)
    }
    if indexes.count == 1 { form.words = entries[indexes[0]].words }
    return form
  }

  // MARK: Commands

  /// The most forms of the values of one length: with more, the first byte is data, and no command.
  private static let mostForms = 32
  /// The same for a later byte.
  private static let mostLaterForms = 16

  /// Puts values together that differ in data only. Behind the bytes that all have in common there may be a command; so it is
  /// again among those with the same one.
  private func split(_ indexes: [Int], into most: Int) -> [[Int]] {
    guard indexes.count > 1, let first = indexes.first else { return [indexes] }
    let bytes = entries[first].value.bytes
    let place = bytes.indices.first { place in
      indexes.contains { entries[$0].value.bytes[place] != bytes[place] }
    }
    guard let place else { return [indexes] }
    let parts = Dictionary(grouping: indexes) { entries[$0].value.bytes[place] }.values
      .sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }
    guard parts.count <= (place == 0 ? most : min(most, Self.mostLaterForms)) else { return [indexes] }
    var result: [[Int]] = []
    for (done, part) in parts.enumerated() {
      result += split(part, into: most - result.count - (parts.count - done - 1))
    }
    return result
  }
}

extension [WrittenForm.Answer] {
  /// Changes the answers of a characteristic, of which there are few.
  fileprivate mutating func add(
    _ operation: ATTOpcode, _ handle: AttributeHandle?, _ change: (inout BytePattern) -> Void
  ) {
    if let index = firstIndex(where: { $0.operation == operation && $0.handle == handle }) {
      change(&self[index].pattern)
    } else if count < 32 {
      var pattern = BytePattern()
      change(&pattern)
      append(WrittenForm.Answer(operation: operation, handle: handle, pattern: pattern))
    }
  }
}
