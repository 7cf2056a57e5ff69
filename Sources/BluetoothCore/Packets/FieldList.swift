/// A field with an address, a name or a key.
package struct PersonalField: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// A device address: six bytes, least significant first.
    case address
    /// A text, up to its first zero byte.
    case name
    /// A secret of pairing.
    case key
  }

  package var kind: Kind
  /// Its bytes, as indices into the bytes given to the lister.
  package var range: Range<Int>

  package init(kind: Kind, range: Range<Int>) {
    self.kind = kind
    self.range = range
  }
}

/// The fields of packets, for display. The text of all of them is in one buffer, and the list is used again for the next
/// packet: a field costs no allocation.
///
///     list.removeAll()
///     list.read(bytes, range, reference: "Vol 3, Part A, 3.1") { lister throws(DecodeError) in
///       try header.list(&lister)
///     }
@usableFromInline package final class FieldList {
  /// A field; its texts are ranges of the text of all fields: see ``FieldList/bytes(_:)``.
  @usableFromInline package struct Entry: Hashable, Sendable {
    @usableFromInline package var name: Range<Int>
    @usableFromInline package var value: Range<Int>
    /// The byte range, as indices into the bytes given to the lister.
    @usableFromInline package var range: Range<Int>
    @usableFromInline package var depth: Int
    /// The index in ``FieldList/references``.
    @usableFromInline package var reference: Int
    /// The value as a number; see ``PacketField/number``.
    @usableFromInline package var number: FieldNumber?
    /// Whether its value is a key that is not shown.
    @usableFromInline package var isHidden = false

    @inlinable
    init(
      name: Range<Int>, value: Range<Int>, range: Range<Int>, depth: Int, reference: Int, number: FieldNumber?
    ) {
      self.name = name
      self.value = value
      self.range = range
      self.depth = depth
      self.reference = reference
      self.number = number
    }
  }

  @usableFromInline package var entries: [Entry] { list }
  @exclusivity(unchecked) @usableFromInline var buffer = TextBuffer(capacity: 0)
  @exclusivity(unchecked) @usableFromInline var list: [Entry] = []
  /// The sections of the specification that define the fields.
  @exclusivity(unchecked) package private(set) var references: [String] = []

  /// Whether a capture has only the beginning of the bytes: missing bytes are no damage.
  @exclusivity(unchecked) private(set) var isCut = false

  /// The data about people and their devices in the fields, if ``collectsPersonal``.
  @exclusivity(unchecked) package private(set) var personal: [PersonalField] = []
  @exclusivity(unchecked) package var collectsPersonal = false

  /// Whether keys are shown, and not only their lengths.
  @exclusivity(unchecked) package var showsKeys = false

  /// Whether bits that have names are fields of their own, below the field that they are in.
  @exclusivity(unchecked) @usableFromInline private(set) var namesBits = false

  package init() {}

  /// Removes all fields, and keeps the memory.
  ///
  /// - Parameters:
  ///   - isCut: whether a capture has only the beginning of the bytes whose fields are to be listed
  ///   - namesBits: whether bits that have names are listed, below the field that they are in
  package func removeAll(isCut: Bool = false, namesBits: Bool = false) {
    self.isCut = isCut
    self.namesBits = namesBits
    buffer.removeAll()
    list.removeAll(keepingCapacity: true)
    references.removeAll(keepingCapacity: true)
    personal.removeAll(keepingCapacity: true)
  }

  /// Notes that a capture has only the beginning of the bytes whose fields are listed from now on.
  package func noteCut() { isCut = true }

  package var count: Int { list.count }

  /// The index of a reference, which is added unless it is the last one.
  func index(ofReference reference: String) -> Int {
    if references.last != reference { references.append(reference) }
    return references.count - 1
  }

  /// Notes a field with an address.
  func noteAddress(_ range: Range<Int>) {
    if collectsPersonal { personal.append(PersonalField(kind: .address, range: range)) }
  }

  /// Notes a field with the style of a name or a key.
  func notePersonal(_ style: FieldStyle, _ range: Range<Int>) {
    guard collectsPersonal else { return }
    switch style {
    case .text: personal.append(PersonalField(kind: .name, range: range))
    case .key: personal.append(PersonalField(kind: .key, range: range))
    default: break
    }
  }

  /// The ranges of fields that were read from a part of the bytes are moved to their places in the whole.
  func movePersonal(from first: Int, by offset: Int) {
    for index in first..<personal.count {
      let range = personal[index].range
      personal[index].range = range.lowerBound + offset..<range.upperBound + offset
    }
  }

  /// Adds a field.
  ///
  /// - Parameters:
  ///   - range: its bytes
  ///   - reference: an index in ``references``
  ///   - number: the value as a number, if it is one
  ///   - name: writes the name
  ///   - value: writes the value
  @inlinable @inline(__always)
  func add(
    _ range: Range<Int>, reference: Int, depth: Int, number: FieldNumber? = nil,
    name: (inout TextBuffer) -> Void,
    value: (inout TextBuffer) -> Void
  ) {
    let start = buffer.count
    name(&buffer)
    let middle = buffer.count
    value(&buffer)
    list.append(
      Entry(
        name: start..<middle, value: middle..<buffer.count, range: range, depth: depth, reference: reference,
        number: number))
  }

  /// Adds a field. `value` writes its text.
  package func add(
    _ name: StaticString, range: Range<Int>, reference: String, depth: Int = 0,
    value: (inout TextBuffer) -> Void
  ) {
    add(range, reference: index(ofReference: reference), depth: depth, name: { $0.write(name) }, value: value)
  }

  /// Adds a field that is there already.
  package func append(_ field: PacketField) {
    add(
      field.range, reference: index(ofReference: field.reference), depth: field.depth, number: field.number,
      name: { $0.write(field.name) }, value: { $0.write(field.value) })
  }

  package func append(_ fields: [PacketField]) {
    for field in fields { append(field) }
  }

  /// Changes the range or the depth of a field.
  func change(_ index: Int, _ body: (inout Entry) -> Void) { body(&list[index]) }

  /// Gives a field another value, which `body` writes.
  package func setValue(of index: Int, _ body: (inout TextBuffer) -> Void) {
    let start = buffer.count
    body(&buffer)
    list[index].value = start..<buffer.count
  }

  /// Adds to the value of a field.
  package func extendValue(of index: Int, _ body: (inout TextBuffer) -> Void) {
    let old = list[index].value
    setValue(of: index) { text in
      text.repeatText(old)
      body(&text)
    }
  }

  /// Gives a field another reference.
  package func setReference(of index: Int, _ reference: String) {
    list[index].reference = self.index(ofReference: reference)
  }

  /// Inserts fields before the one at `index`, or at the end.
  package func insert(_ fields: [PacketField], at index: Int) {
    let start = list.count
    append(fields)
    let inserted = list[start...]
    list.removeLast(inserted.count)
    list.insert(contentsOf: inserted, at: index)
  }

  /// Removes the last fields.
  package func truncate(to count: Int) {
    if count < list.count { list.removeLast(list.count - max(0, count)) }
  }

  package func isNamed(_ index: Int, _ name: StaticString) -> Bool {
    guard list[index].name.count == name.utf8CodeUnitCount else { return false }
    return name.withUTF8Buffer { bytes(list[index].name).elementsEqual($0.span.bytes) }
  }

  /// The name or the value of a field, as bytes.
  @_lifetime(borrow self)
  package func bytes(_ range: Range<Int>) -> RawSpan {
    _overrideLifetime(buffer.span.extracting(range.clamped(to: 0..<buffer.count)), borrowing: self)
  }

  /// The same as a string.
  package func string(_ range: Range<Int>) -> String { buffer.string(range) }

  /// The fields as values of their own.
  package var fields: [PacketField] { list.map(field) }

  private func field(_ entry: Entry) -> PacketField {
    var field = PacketField(
      buffer.string(entry.name), buffer.string(entry.value), range: entry.range,
      reference: references[entry.reference], depth: entry.depth)
    field.number = entry.number
    return field
  }

  /// Lists the fields in `range` of `bytes`. Bytes that `body` can't decode or leaves unread are listed, too.
  package func read(
    _ bytes: RawSpan, _ range: Range<Int>, reference: String,
    _ body: (inout FieldLister) throws(DecodeError) -> Void
  ) {
    var lister = FieldLister(bytes, range, reference: reference, addingTo: self)
    lister.readAll(body)
  }
}
