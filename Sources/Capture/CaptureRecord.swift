import BluetoothCore

/// The direction of a packet, as seen from the host.
public enum CaptureDirection: Hashable, Sendable {
  /// Commands, and data that the host sends.
  case hostToController
  /// Events, and data that the host receives.
  case controllerToHost
}

/// The content of a record.
public enum CaptureContent: Hashable, Sendable {
  /// An HCI packet preceded by its H4 type byte, whatever the file has in its place. In files of H4 packets the type
  /// byte is that of the file: it may be unknown, and a packet may be empty.
  ///
  /// The direction is nil if neither the file nor the packet type determines it (data, link type 187).
  case hci(CaptureDirection?)
  /// A record of the Linux monitor other than an HCI packet; the bytes follow its header.
  case monitor(MonitorOpcode)
  /// A record of Apple's PacketLogger other than an HCI packet, usually text. Nil if the record has no type.
  case packetLogger(PacketLogger.RecordType?)
  /// A packet of an interface other than Bluetooth HCI, in a pcapng file with several interfaces.
  case foreign(CaptureLinkType)
}

/// All properties of a record except its bytes.
public struct CaptureRecordInfo: Hashable, Sendable {
  /// The record number, counted from 1 like Wireshark's frame number. In pcapng, journal entries and custom blocks
  /// count, although they are not returned.
  public var number: Int
  /// The file offset of the record.
  public var fileOffset: Int
  /// Microseconds since 1970-01-01 UTC as stored in the file; may decrease. Nil if the record has no timestamp.
  public var microseconds: Int64?
  /// The adapter's index (0 is hci0), if the capture has it.
  public var adapter: UInt16?
  /// What the bytes are.
  public var content: CaptureContent
  /// The original length; greater than that of the bytes if the packet was truncated (snap length).
  public var originalLength: Int

  public init(
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
  public var direction: CaptureDirection? {
    if case .hci(let direction) = content { direction } else { nil }
  }
}

/// A record of a capture, with a copy of its bytes.
public struct CaptureRecord: Hashable, Sendable {
  /// Everything but the bytes.
  public var info: CaptureRecordInfo
  /// The bytes; their form is given by the content.
  public var bytes: [UInt8]

  public init(info: CaptureRecordInfo, bytes: [UInt8]) {
    self.info = info
    self.bytes = bytes
  }

  /// Whether the packet was truncated.
  public var isCut: Bool { bytes.count < info.originalLength }
}
