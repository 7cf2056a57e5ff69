import HaloBluetoothCore

/// The direction of a packet, as seen from the host.
@usableFromInline package enum CaptureDirection: Hashable, Sendable {
  /// Commands, and data that the host sends.
  case hostToController
  /// Events, and data that the host receives.
  case controllerToHost

  /// The action of the host.
  package var word: String { self == .hostToController ? "sent" : "received" }
}

/// The content of a record.
@usableFromInline package enum CaptureContent: Hashable, Sendable {
  /// An HCI packet preceded by its H4 type byte, whatever the file has in its place. In files of H4 packets the type
  /// byte is that of the file: it may be unknown, and a packet may be empty.
  ///
  /// The direction is nil if neither the file nor the packet type determines it (data, link type 187).
  case hci(CaptureDirection?)
  /// A record of the Linux monitor other than an HCI packet; the bytes follow its header.
  case monitor(MonitorOpcode)
  /// A record of Apple's PacketLogger other than an HCI packet, usually text. Nil if the record has no type.
  case packetLogger(PacketLogger.RecordType?)
  /// A packet that a sniffer has received on the air, from its access address to its CRC.
  case air(AirReception)
  /// A packet of an interface other than Bluetooth, in a pcapng file with several interfaces.
  case foreign(CaptureLinkType)

  /// The name of records of this kind, in the plural.
  package var kindName: String {
    switch self {
    case .hci(nil): "packets without a direction"
    case .hci: "packets of an unknown type"
    case .monitor(.userLogging): "texts of programs"
    case .monitor(.systemNote): "texts of the kernel"
    case .monitor(.controlOpen), .monitor(.controlClose), .monitor(.controlCommand), .monitor(.controlEvent):
      "records of the management interface"
    case .monitor(.vendorDiagnostic): "vendor diagnostics"
    case .monitor(.newIndex), .monitor(.deleteIndex), .monitor(.openIndex), .monitor(.closeIndex),
      .monitor(.indexInfo):
      "records of adapters"
    case .monitor: "monitor records of unknown types"
    case .packetLogger(let type):
      type?.name.map { "records of PacketLogger (\($0))" } ?? "records of PacketLogger"
    case .air(let reception): "packets of link type \(reception.source.linkType)"
    case .foreign(let type): "records of link type \(type)"
    }
  }
}

/// All properties of a record except its bytes.
@usableFromInline package struct CaptureRecordInfo: Hashable, Sendable {
  /// The record number, counted from 1 like Wireshark's frame number. In pcapng, journal entries and custom blocks
  /// count, although they are not returned.
  package var number: Int
  /// The file offset of the record.
  package var fileOffset: Int
  /// Microseconds since 1970-01-01 UTC as stored in the file; may decrease. Nil if the record has no timestamp.
  package var microseconds: Int64?
  /// The adapter's index (0 is hci0), if the capture has it.
  package var adapter: UInt16?
  /// The kind of the bytes.
  package var content: CaptureContent
  /// The original length as stated in the file: greater than that of the bytes if the packet was truncated (snap
  /// length); some programs write too small a number.
  package var originalLength: Int
  /// The number of packets that the recorder lost between the record before and this one.
  package var drops = 0

  @usableFromInline package init(
    number: Int = 1, fileOffset: Int = 0, microseconds: Int64?, adapter: UInt16? = nil,
    content: CaptureContent, originalLength: Int
  ) {
    self.number = number
    self.fileOffset = fileOffset
    self.microseconds = microseconds
    self.adapter = adapter
    self.content = content
    self.originalLength = originalLength
  }

  /// The direction of an HCI packet, if the capture has it.
  @usableFromInline package var direction: CaptureDirection? {
    if case .hci(let direction) = content { direction } else { nil }
  }
}

/// A record of a capture, with a copy of its bytes.
package struct CaptureRecord: Hashable, Sendable {
  /// Everything but the bytes.
  package var info: CaptureRecordInfo
  /// The bytes; their form is given by the content.
  package var bytes: [UInt8]
  /// The header of the link type, which a copy keeps: the sniffer's data about a packet of the air. Empty for others.
  package var linkHeader: [UInt8]

  package init(info: CaptureRecordInfo, bytes: [UInt8], linkHeader: [UInt8] = []) {
    self.info = info
    self.bytes = bytes
    self.linkHeader = linkHeader
  }

  package var isCut: Bool { bytes.count < info.originalLength }
}

/// A comment in a capture for information that no packet carries, such as the time zone. It is stored as a
/// vendor-specific HCI event (code 0xFF) from the controller that begins with a signature. Wireshark and btmon show it
/// among the packets; a replay removes it.
package enum CaptureNote {
  static let signature = Array("halo-raw: ".utf8)
  private static let eventType: UInt8 = 4
  private static let vendorSpecific: UInt8 = 0xFF
  /// An event has up to 255 bytes.
  package static let maximumLength = 255 - signature.count

  /// The packet, with its H4 type byte. Text that is too long is truncated.
  package static func packet(_ text: String) -> [UInt8] {
    let text = text.utf8.prefix(maximumLength)
    return [eventType, vendorSpecific, UInt8(signature.count + text.count)] + signature + text
  }

  /// The text; nil if the packet is not a note.
  package static func text(of packet: [UInt8]) -> String? {
    guard packet.count >= 3 + signature.count, packet[0] == eventType, packet[1] == vendorSpecific,
      Int(packet[2]) == packet.count - 3, packet[3..<3 + signature.count].elementsEqual(signature)
    else { return nil }
    return String(printable: packet[(3 + signature.count)...])
  }
}

/// The type of a record of the Linux monitor channel (the kernel's `hci_mon.h`; BlueZ's `btsnoop.h`).
@usableFromInline package struct MonitorOpcode: RawRepresentable, Hashable, Sendable {
  @usableFromInline package var rawValue: UInt16

  @usableFromInline package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// An adapter was added: type, bus, address (6 bytes), name (8 bytes).
  package static let newIndex = MonitorOpcode(rawValue: 0)
  package static let deleteIndex = MonitorOpcode(rawValue: 1)
  package static let openIndex = MonitorOpcode(rawValue: 8)
  package static let closeIndex = MonitorOpcode(rawValue: 9)
  /// Address (6 bytes) and manufacturer (2 bytes, little-endian).
  package static let indexInfo = MonitorOpcode(rawValue: 10)
  package static let vendorDiagnostic = MonitorOpcode(rawValue: 11)
  /// Text from the kernel, terminated by a zero byte.
  package static let systemNote = MonitorOpcode(rawValue: 12)
  /// Text from a program: priority (1 byte), length of its name (1 byte), name, text.
  package static let userLogging = MonitorOpcode(rawValue: 13)
  package static let controlOpen = MonitorOpcode(rawValue: 14)
  package static let controlClose = MonitorOpcode(rawValue: 15)
  package static let controlCommand = MonitorOpcode(rawValue: 16)
  package static let controlEvent = MonitorOpcode(rawValue: 17)

  /// The type of the HCI packet that follows without its type byte; nil for other records.
  package var packet: (type: HCIPacketType, direction: CaptureDirection)? {
    // The even opcode of data is that of the host.
    let direction: CaptureDirection = rawValue & 1 == 0 ? .hostToController : .controllerToHost
    switch rawValue {
    case 2: return (.command, direction)
    case 3: return (.event, direction)
    case 4, 5: return (.acl, direction)
    case 6, 7: return (.synchronous, direction)
    case 18, 19: return (.isochronous, direction)
    default: return nil
    }
  }

  /// The opcode of an HCI packet; nil for types that the monitor does not support.
  package init?(_ type: HCIPacketType, _ direction: CaptureDirection) {
    let received: UInt16 = direction == .controllerToHost ? 1 : 0
    switch type {
    case .command: self.init(rawValue: 2)
    case .event: self.init(rawValue: 3)
    case .acl: self.init(rawValue: 4 + received)
    case .synchronous: self.init(rawValue: 6 + received)
    case .isochronous: self.init(rawValue: 18 + received)
    default: return nil
    }
  }

  /// The index of records without an adapter.
  package static let noAdapter: UInt16 = 0xFFFF
}
