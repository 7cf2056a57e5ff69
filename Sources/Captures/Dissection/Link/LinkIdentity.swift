import HCI
import HaloBluetoothCore

/// The link of a packet: its handle, and the device at the other end. All packets of a link share one.
package final class LinkIdentity: Hashable, Sendable {
  /// The handle; 0 for a connection on the air.
  package let handle: ConnectionHandle
  /// The access address of a connection on the air; its ``peer`` is the peripheral.
  package let accessAddress: UInt32?
  /// The central of a connection on the air; nil if the capture begins in the middle of it.
  package let central: BluetoothAddress?
  /// Nil if the capture begins in the middle of the link.
  package let peer: BluetoothAddress?
  /// The name of the device, safe to print; nil until the capture shows it.
  package let name: String?
  /// `0x0040 30:35:38:41:BE:EF R02_BEEF`.
  package let text: String

  private init(
    _ handle: ConnectionHandle, _ accessAddress: UInt32?, _ central: BluetoothAddress?,
    _ peer: BluetoothAddress?, _ name: String?
  ) {
    self.handle = handle
    self.accessAddress = accessAddress
    self.central = central
    self.peer = peer
    self.name = name
    let number = accessAddress.map { Hex.string(UInt64($0), bytes: 4) } ?? handle.description
    text = [number, central?.description, peer?.description, name].compactMap(\.self).joined(separator: " ")
  }

  convenience init(_ handle: ConnectionHandle, _ peer: BluetoothAddress?, name: String?) {
    self.init(handle, nil, nil, peer, name)
  }

  /// A connection on the air.
  convenience init(
    _ accessAddress: UInt32, central: BluetoothAddress?, _ peripheral: BluetoothAddress?, name: String?
  ) {
    self.init(ConnectionHandle(rawValue: 0), accessAddress, central, peripheral, name)
  }

  /// The same link, with another name of its peer.
  func renamed(_ name: String?) -> LinkIdentity { LinkIdentity(handle, accessAddress, central, peer, name) }

  /// The number for filters: the access address, or the handle.
  package var number: UInt32 { accessAddress ?? UInt32(handle.rawValue) }

  package static func == (left: LinkIdentity, right: LinkIdentity) -> Bool {
    left === right
      || (left.number, left.peer, left.name) == (right.number, right.peer, right.name)
        && left.central == right.central
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(peer)
  }
}

/// The names of devices, as advertised, requested or read. Bounded: the oldest is forgotten first.
struct DeviceNames {
  static let capacity = 512

  private struct Name {
    var bytes: [UInt8]
    var isComplete: Bool
  }

  private var names: [UInt64: Name] = [:]
  private var order: [UInt64] = []
  /// The oldest entry of ``order``, once it is full.
  private var oldest = 0

  /// The name of a device, safe to print.
  subscript(address: BluetoothAddress) -> String? {
    names[address.value].map { String(printable: $0.bytes) }
  }

  /// - Parameter isComplete: whether this is the complete name; a shortened one does not replace it
  /// - Returns: whether the name is new
  mutating func learn(_ name: RawSpan, of address: BluetoothAddress, isComplete: Bool = true) -> Bool {
    let name = name.extracting(0..<Self.length(of: name))
    guard name.byteCount > 0 else { return false }
    if let known = names[address.value] {
      if known.isComplete && !isComplete || known.bytes.span.bytes.elementsEqual(name) { return false }
    } else if order.count < Self.capacity {
      order.append(address.value)
    } else {
      names[order[oldest]] = nil
      order[oldest] = address.value
      oldest = (oldest + 1) % Self.capacity
    }
    names[address.value] = Name(bytes: Array(name), isComplete: isComplete)
    return true
  }

  /// Learns the Device Name of the peer that was read in a packet.
  ///
  /// - Returns: the peer, if the name is new
  mutating func learn(readIn packet: DissectedPacket) -> BluetoothAddress? {
    guard packet.att != nil, let peer = packet.link?.peer, let range = packet.deviceName else { return nil }
    let source = packet.source
    return learn(source.span.bytes.extracting(range), of: peer) ? peer : nil
  }

  /// Names are padded with zeros.
  private static func length(of name: RawSpan) -> Int {
    var length = 0
    while let byte = name.byte(at: length), byte != 0, length < 248 { length += 1 }
    return length
  }

  /// Learns the name in advertising data or in an extended inquiry response (Core Specification Vol 3, Part C, 8
  /// and 11).
  mutating func learn(fromStructures data: RawSpan, of address: BluetoothAddress) -> Bool {
    guard let (range, isComplete) = AdvertisingData.nameRange(in: data) else { return false }
    return learn(data.extracting(range), of: address, isComplete: isComplete)
  }

  /// Learns the names in an event.
  ///
  /// - Parameter parameters: the bytes behind the event's header
  /// - Returns: the devices with a new name
  mutating func learn(
    from event: HCIEventCode, _ subevent: LESubevent?, _ parameters: RawSpan
  ) -> [BluetoothAddress] {
    var reader = ByteReader(parameters)
    var learned: [BluetoothAddress] = []
    do throws(DecodeError) {
      switch (event, subevent) {
      case (.leMeta, .advertisingReport?):
        try reader.skip(1)
        for _ in 0..<(try reader.readUInt8()) {
          try reader.skip(1)
          let address = try Self.typedAddress(&reader)
          let data = try reader.readSpan(Int(try reader.readUInt8()))
          if learn(fromStructures: data, of: address) { learned.append(address) }
          try reader.skip(1)
        }
      case (.leMeta, .extendedAdvertisingReport?):
        try reader.skip(1)
        for _ in 0..<(try reader.readUInt8()) {
          try reader.skip(2)
          let address = try Self.typedAddress(&reader)
          // PHYs, set, powers, interval, direct address.
          try reader.skip(14)
          let data = try reader.readSpan(Int(try reader.readUInt8()))
          if learn(fromStructures: data, of: address) { learned.append(address) }
        }
      case (.extendedInquiryResult, _):
        try reader.skip(1)
        let address = try BluetoothAddress(parsing: &reader, kind: .public)
        // Repetition mode, reserved, class of device, clock offset, RSSI.
        try reader.skip(8)
        if learn(fromStructures: reader.readRest(), of: address) { learned.append(address) }
      case (.remoteNameRequestComplete, _):
        guard try reader.readUInt8() == 0 else { break }
        let address = try BluetoothAddress(parsing: &reader, kind: .public)
        if learn(reader.readRest(), of: address) { learned.append(address) }
      default: break
      }
    } catch {
      // A damaged event names no more devices.
    }
    return learned
  }

  private static func typedAddress(_ reader: inout ByteReader) throws(DecodeError) -> BluetoothAddress {
    let kind = BluetoothAddress.Kind(rawValue: try reader.readUInt8())
    return try BluetoothAddress(parsing: &reader, kind: kind)
  }
}
