import BluetoothCore

/// The type of a record of the Linux monitor channel (the kernel's `hci_mon.h`; BlueZ's `btsnoop.h`).
public struct MonitorOpcode: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// An adapter was added: type, bus, address (6 bytes), name (8 bytes).
  public static let newIndex = MonitorOpcode(rawValue: 0)
  public static let deleteIndex = MonitorOpcode(rawValue: 1)
  public static let openIndex = MonitorOpcode(rawValue: 8)
  public static let closeIndex = MonitorOpcode(rawValue: 9)
  /// Address (6 bytes) and manufacturer (2 bytes, little-endian).
  public static let indexInfo = MonitorOpcode(rawValue: 10)
  public static let vendorDiagnostic = MonitorOpcode(rawValue: 11)
  /// Text from the kernel, terminated by a zero byte.
  public static let systemNote = MonitorOpcode(rawValue: 12)
  /// Text from a program: priority (1 byte), length of its name (1 byte), name, text.
  public static let userLogging = MonitorOpcode(rawValue: 13)
  public static let controlOpen = MonitorOpcode(rawValue: 14)
  public static let controlClose = MonitorOpcode(rawValue: 15)
  public static let controlCommand = MonitorOpcode(rawValue: 16)
  public static let controlEvent = MonitorOpcode(rawValue: 17)

  /// The type of the HCI packet that follows without its type byte; nil for other records.
  public var packet: (type: HCIPacketType, direction: CaptureDirection)? {
    switch rawValue {
    case 2: (.command, .hostToController)
    case 3: (.event, .controllerToHost)
    case 4: (.acl, .hostToController)
    case 5: (.acl, .controllerToHost)
    case 6: (.synchronous, .hostToController)
    case 7: (.synchronous, .controllerToHost)
    case 18: (.isochronous, .hostToController)
    case 19: (.isochronous, .controllerToHost)
    default: nil
    }
  }

  /// The opcode of an HCI packet; nil for types that the monitor does not support.
  public init?(_ type: HCIPacketType, _ direction: CaptureDirection) {
    let isReceived = direction == .controllerToHost
    switch type {
    case .command: self.init(rawValue: 2)
    case .event: self.init(rawValue: 3)
    case .acl: self.init(rawValue: isReceived ? 5 : 4)
    case .synchronous: self.init(rawValue: isReceived ? 7 : 6)
    case .isochronous: self.init(rawValue: isReceived ? 19 : 18)
    default: return nil
    }
  }

  /// The index of records without an adapter.
  public static let noAdapter: UInt16 = 0xFFFF
}
