import HaloBluetoothCore

/// The Bluetooth adapters in a USB capture, and their HCI packets (Core Specification Vol 4, Part B, 2): commands are
/// class requests to endpoint 0, events come from the interrupt endpoint 1, and data use the bulk endpoints 2. A
/// transfer is in the capture twice, when it begins and when it ends: data to the device are in the first record, data
/// to the host in the second.
///
/// A device is a Bluetooth adapter once its descriptor identifies it (class 0xE0, subclass 1, protocol 1), once it is sent an
/// HCI command, or once it sends bytes that can hardly be anything but an event. All else is not read.
///
/// A packet may take several transfers: an event of 40 bytes takes three from an endpoint of 16 bytes. It is complete
/// in the last one. Bounded: there are at most ``capacity`` adapters, with one packet of each kind.
struct USBAdapters {
  /// The kind of a record.
  enum Found {
    /// Not of a Bluetooth adapter.
    case foreign
    /// The transfer of an adapter has no HCI packet, or a part of one that is not complete.
    case nothing
    /// An HCI packet without its type byte, in the record.
    case packet(HCIPacketType, Range<Int>, length: Int)
    /// A packet in several records, with its type byte, in ``joined``.
    case joined(HCIPacketType, length: Int)
  }

  static let capacity = 16

  private struct Address: Hashable {
    var bus: UInt16
    var device: UInt16
  }

  private struct Adapter {
    var address: Address
    var index: UInt16
    var events = USBAssembler(.event)
    var received = USBAssembler(.acl)
    var sent = USBAssembler(.acl)
    /// Whether the next record has the data of a command: older versions of USBPcap have them apart.
    var expectsCommand = false
  }

  private var adapters: [Adapter] = []
  private var count: UInt16 = 0
  /// The packet that was found last, if it was in several records.
  private(set) var joined: [UInt8] = []
  /// The index of the adapter of the record; nil for the first one in the capture.
  private(set) var index: UInt16?
  /// The direction of the packet.
  private(set) var direction = CaptureDirection.hostToController
  /// Whether the rest of an earlier packet is missing before this one.
  private(set) var hasLost = false
  /// Whether it is missing before the next one.
  private var willHaveLost = false

  /// Reads the next record.
  mutating func read(_ record: USBRecord, _ bytes: RawSpan) -> Found {
    let found = find(record, bytes)
    hasLost = false
    switch found {
    case .packet, .joined: swap(&hasLost, &willHaveLost)
    case .foreign, .nothing: break
    }
    return found
  }

  private mutating func find(_ record: USBRecord, _ bytes: RawSpan) -> Found {
    direction = record.isIn ? .controllerToHost : .hostToController
    let address = Address(bus: record.bus, device: record.device)
    guard let place = adapters.firstIndex(where: { $0.address == address }) ?? add(address, record, bytes)
    else {
      return .foreign
    }
    index = adapters[place].index == 0 ? nil : adapters[place].index
    guard record.isIn == record.isCompletion, !record.hasFailed else { return .nothing }
    switch (record.transfer, record.endpoint) {
    case (.control, 0): return readCommand(record, bytes, of: place)
    case (.interrupt, 0x81):
      return Self.join(record, bytes, &adapters[place].events, into: &joined, &willHaveLost)
    case (.bulk, 0x82):
      if adapters[place].received.isEmpty, let type = Self.bootloaderPacket(record, bytes) {
        return Self.packet(type, record)
      }
      return Self.join(record, bytes, &adapters[place].received, into: &joined, &willHaveLost)
    case (.bulk, 0x02):
      if adapters[place].sent.isEmpty, let type = Self.bootloaderPacket(record, bytes) {
        return Self.packet(type, record)
      }
      return Self.join(record, bytes, &adapters[place].sent, into: &joined, &willHaveLost)
    default: return .nothing
    }
  }

  private static func packet(_ type: HCIPacketType, _ record: USBRecord) -> Found {
    record.data.isEmpty ? .nothing : .packet(type, record.data, length: record.length)
  }

  private mutating func readCommand(_ record: USBRecord, _ bytes: RawSpan, of place: Int) -> Found {
    let isExpected = adapters[place].expectsCommand
    adapters[place].expectsCommand = false
    guard let setup = record.setup else { return isExpected ? Self.packet(.command, record) : .nothing }
    guard Self.isCommand(bytes, setup) else { return .nothing }
    adapters[place].expectsCommand = record.data.isEmpty
    return Self.packet(.command, record)
  }

  private static func join(
    _ record: USBRecord, _ bytes: RawSpan, _ assembler: inout USBAssembler, into joined: inout [UInt8],
    _ hasLost: inout Bool
  ) -> Found {
    guard record.length > 0 else { return .nothing }
    let data = bytes.extracting(record.data)
    if assembler.isEmpty, assembler.isWhole(data, length: record.length) {
      return packet(assembler.type, record)
    }
    switch assembler.add(data, length: record.length) {
    case .incomplete: return .nothing
    case .restarted:
      hasLost = true
      return assembler.isEmpty ? packet(assembler.type, record) : .nothing
    case .complete(let length):
      joined = assembler.take()
      return .joined(assembler.type, length: length)
    }
  }

  // MARK: Which devices are adapters

  private mutating func add(_ address: Address, _ record: USBRecord, _ bytes: RawSpan) -> Int? {
    guard Self.isOfAdapter(record, bytes) else { return nil }
    if adapters.count >= Self.capacity { adapters.removeFirst() }
    adapters.append(Adapter(address: address, index: count))
    count = count == .max ? .max : count + 1
    return adapters.count - 1
  }

  private static func isOfAdapter(_ record: USBRecord, _ bytes: RawSpan) -> Bool {
    let data = bytes.extracting(record.data)
    switch (record.transfer, record.endpoint) {
    case (.control, 0):
      guard let setup = record.setup, !record.isCompletion, isCommand(bytes, setup) else { return false }
      // Opcode, length, parameters. Where the data are apart, a modem's class request would look the same.
      return data.byte(at: 2).map(Int.init) == record.length - 3
    case (.control, 0x80):
      // A device descriptor: length, type, version, class, subclass, protocol.
      return record.isCompletion && data.byte(at: 0) == 18 && data.byte(at: 1) == 1
        && data.byte(at: 4) == 0xE0
        && data.byte(at: 5) == 1 && data.byte(at: 6) == 1
    case (.interrupt, 0x81): return record.isCompletion && isLikelyEvent(data, length: record.length)
    default: return false
    }
  }

  /// Whether a setup packet is that of an HCI command (2.2.2): class request 0 to the device, or to an interface of it.
  private static func isCommand(_ bytes: RawSpan, _ setup: Int) -> Bool {
    guard let type = bytes.byte(at: setup), let request = bytes.byte(at: setup + 1) else { return false }
    return (type == 0x20 || type == 0x21) && request == 0
  }

  /// Whether the report of an interrupt endpoint is an event. Those of keyboards, mice and gamepads may have a length
  /// in their second byte by chance, but not one of these forms.
  private static func isLikelyEvent(_ data: RawSpan, length: Int) -> Bool {
    guard let code = data.byte(at: 0), let size = data.byte(at: 1).map(Int.init), length == size + 2 else {
      return false
    }
    switch code {
    case 0x0E: return size >= 4 && data.byte(at: 2).map { $0 <= 16 } == true
    case 0x0F: return size == 4 && data.byte(at: 3).map { $0 <= 16 } == true
    case 0x13: return size >= 5 && data.byte(at: 2).map { Int($0) * 4 + 1 == size } == true
    case 0x3E: return size >= 4 && data.byte(at: 2).map { (1...0x34).contains($0) } == true
    default: return false
    }
  }

  /// Adapters that wait for their firmware take commands and send events on the endpoints for data.
  private static func bootloaderPacket(_ record: USBRecord, _ bytes: RawSpan) -> HCIPacketType? {
    let data = bytes.extracting(record.data)
    guard !USBAssembler(.acl).isWhole(data, length: record.length) else { return nil }
    if record.isIn { return USBAssembler(.event).isWhole(data, length: record.length) ? .event : nil }
    return data.byte(at: 1).map { $0 >> 2 == 0x3F } == true
      && data.byte(at: 2).map(Int.init) == record.length - 3
      ? .command : nil
  }
}

/// Puts a packet together that takes several transfers.
struct USBAssembler {
  enum Step {
    case incomplete
    /// The packet is complete; it had this many bytes.
    case complete(Int)
    /// The packet before is not complete, and this record begins another one.
    case restarted
  }

  let type: HCIPacketType
  private var bytes: [UInt8] = []
  /// The bytes that were transferred; the capture may have fewer.
  private var length = 0

  init(_ type: HCIPacketType) { self.type = type }

  var isEmpty: Bool { length == 0 }

  /// The length of a packet with this beginning; nil if its header is not complete.
  private func expected(_ header: RawSpan) -> Int? {
    type == .event
      ? header.byte(at: 1).map { Int($0) + 2 } : header.uint16(at: 2, .little).map { Int($0) + 4 }
  }

  /// Whether a transfer has at least one packet. Further bytes are found by the reader of the packet.
  func isWhole(_ data: RawSpan, length: Int) -> Bool { expected(data).map { length >= $0 } ?? false }

  /// Adds the data of a transfer.
  ///
  /// - Parameters:
  ///   - data: as far as the capture has them
  ///   - transferred: the number of bytes that were transferred
  mutating func add(_ data: RawSpan, length transferred: Int) -> Step {
    if let total = expected(bytes.span.bytes), length + transferred > total {
      bytes = []
      length = 0
      if !isWhole(data, length: transferred) { append(data, transferred) }
      return .restarted
    }
    append(data, transferred)
    guard let total = expected(bytes.span.bytes) else {
      // A header that the capture does not have: nothing can be read until the next packet.
      if bytes.count < length { _ = take() }
      return .incomplete
    }
    return length >= total ? .complete(length) : .incomplete
  }

  private mutating func append(_ data: RawSpan, _ transferred: Int) {
    // Behind bytes that the capture does not have, none can be put in their place.
    if bytes.count == length { data.withUnsafeBytes { bytes.append(contentsOf: $0) } }
    length += transferred
  }

  /// The packet with its type byte; the next one begins.
  mutating func take() -> [UInt8] {
    defer {
      bytes = []
      length = 0
    }
    return [type.rawValue] + bytes
  }
}
