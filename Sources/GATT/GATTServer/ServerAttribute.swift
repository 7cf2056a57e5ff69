import ATT
import HaloBluetoothCore

/// An attribute of a server as a row of a table: its type, value and permissions (Core Specification Vol 3, Part F,
/// 3.2).
package struct ServerAttribute: Hashable, Sendable {
  /// The ways in which a client may use the value.
  package struct Access: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It may be read.
    package static let read = Access(rawValue: 1)
    /// It may be written by requests.
    package static let write = Access(rawValue: 2)
    /// It may be written by commands.
    package static let writeCommand = Access(rawValue: 4)
    /// It may be written by commands with a signature, and over an encrypted link without one (Part G, 4.9.2).
    package static let signedWrite = Access(rawValue: 8)

    /// The access that the properties of a characteristic promise.
    package init(_ properties: CharacteristicProperties) {
      self = []
      if properties.contains(.read) { insert(.read) }
      if properties.contains(.write) { insert(.write) }
      if properties.contains(.writeWithoutResponse) { insert(.writeCommand) }
      if properties.contains(.authenticatedSignedWrites) { insert(.signedWrite) }
    }
  }

  /// Its place in the table.
  package var handle: AttributeHandle
  package var type: BluetoothUUID
  /// How it may be used.
  package var access: Access
  /// The security requirements for reading.
  package var readSecurity: SecurityRequirement
  /// The security requirements for writing.
  package var writeSecurity: SecurityRequirement
  /// In the byte order of the wire. That of a configuration belongs to each client, and is not kept here.
  package var value: [UInt8]
  /// The most bytes that may be written.
  package var capacity: Int
  /// The last handle of the service that this attribute declares.
  package var groupEnd: AttributeHandle?
  /// The bits that can be set, if this is a Client Characteristic Configuration: 1 notify, 2 indicate.
  package var configuration: UInt8?

  package init(
    handle: AttributeHandle, type: BluetoothUUID, access: Access = .read, value: [UInt8] = [],
    capacity: Int = 0, groupEnd: AttributeHandle? = nil, configuration: UInt8? = nil,
    readSecurity: SecurityRequirement = .none, writeSecurity: SecurityRequirement = .none
  ) {
    self.handle = handle
    self.type = type
    self.access = access
    self.value = value
    self.capacity = capacity
    self.groupEnd = groupEnd
    self.configuration = configuration
    self.readSecurity = readSecurity
    self.writeSecurity = writeSecurity
  }
}

/// Attributes in the order of their handles, and the handles of each type. Every search takes a number of steps that is
/// the logarithm of the number of attributes.
struct AttributeIndex<Entry> {
  private(set) var handles: [AttributeHandle] = []
  private(set) var entries: [Entry] = []
  private var byType: [BluetoothUUID: [AttributeHandle]] = [:]

  /// Adds an attribute behind all others.
  ///
  /// - Returns: whether its handle was above those of all others; if not, nothing is added
  mutating func append(_ entry: Entry, _ handle: AttributeHandle, _ type: BluetoothUUID) -> Bool {
    guard handles.last.map({ $0 < handle }) ?? handle.isValid else { return false }
    handles.append(handle)
    entries.append(entry)
    byType[type, default: []].append(handle)
    return true
  }

  /// Removes all attributes in a range.
  mutating func remove(_ range: HandleRange) {
    let places = self.places(in: range)
    handles.removeSubrange(places)
    entries.removeSubrange(places)
    for type in byType.keys {
      guard let all = byType[type] else { continue }
      let places = all.places(in: range)
      if places.count == all.count { byType[type] = nil } else { byType[type]?.removeSubrange(places) }
    }
  }

  /// The attribute with a handle; nil if there is none.
  subscript(handle: AttributeHandle) -> Entry? {
    place(of: handle).map { entries[$0] }
  }

  /// Changes the attribute with a handle in its place; nothing if there is none.
  mutating func change(_ handle: AttributeHandle, _ body: (inout Entry) -> Void) {
    if let place = place(of: handle) { body(&entries[place]) }
  }

  /// A part of the attribute with a handle, without a copy of the rest; nil if there is none.
  func part<Part>(of handle: AttributeHandle, _ path: (borrowing Entry) -> Part) -> Part? {
    place(of: handle).map { path(entries[$0]) }
  }

  private func place(of handle: AttributeHandle) -> Int? {
    let place = handles.firstPlace { $0 >= handle }
    return place < handles.count && handles[place] == handle ? place : nil
  }

  /// The places of the attributes in a range of handles.
  func places(in range: HandleRange) -> Range<Int> { handles.places(in: range) }

  /// The attributes of a type in a range of handles.
  func handles(of type: BluetoothUUID, in range: HandleRange = .all) -> ArraySlice<AttributeHandle> {
    guard let all = byType[type] else { return [] }
    return all[all.places(in: range)]
  }
}

extension [AttributeHandle] {
  /// The first place, in a sorted list, for which a condition holds that holds for all behind it; the count if there is
  /// none.
  func firstPlace(where isBehind: (AttributeHandle) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The places, in a sorted list, of the handles in a range.
  func places(in range: HandleRange) -> Range<Int> {
    let start = firstPlace { $0 >= range.start }
    return start..<Swift.max(start, firstPlace { $0 > range.end })
  }
}
