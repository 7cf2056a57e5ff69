import BluetoothCore
import Capture

/// Records of a capture that are not HCI packets, as text.
enum RecordNote {
  static func summary(of packet: DissectedPacket) -> String {
    let adapter = packet.info.adapter.map { "hci\($0)" } ?? "no adapter"
    switch packet.info.content {
    case .hci: return "empty"
    case .monitor(let opcode): return monitor(opcode, packet.bytes, adapter)
    case .packetLogger(let type):
      let name = type.map { "record of type \(Hex.string($0.rawValue))" } ?? "record without a type"
      return "\(name): \(text(packet.bytes))"
    case .foreign(let type): return "no Bluetooth HCI: link type \(type)"
    }
  }

  private static func monitor(_ opcode: MonitorOpcode, _ bytes: [UInt8], _ adapter: String) -> String {
    switch opcode {
    case .newIndex:
      // Type, bus, address, name.
      return "new adapter \(adapter): \(address(bytes.dropFirst(2))) \"\(text(bytes.dropFirst(8)))\""
    case .deleteIndex: return "adapter \(adapter) is gone"
    case .openIndex: return "adapter \(adapter) is opened"
    case .closeIndex: return "adapter \(adapter) is closed"
    case .indexInfo: return "adapter \(adapter): \(address(bytes[...]))"
    case .vendorDiagnostic: return "diagnostics of the maker of \(adapter): \(bytes.count) bytes"
    case .systemNote: return "kernel: \(text(bytes))"
    case .userLogging:
      // Priority, length of the name, name with its zero, text.
      let length = bytes.count > 1 ? Int(bytes[1]) : 0
      return "\(text(bytes.dropFirst(2).prefix(length))): \(text(bytes.dropFirst(2 + length)))"
    case .controlOpen: return "management socket opened"
    case .controlClose: return "management socket closed"
    case .controlCommand: return "management command, \(bytes.count) bytes"
    case .controlEvent: return "management event, \(bytes.count) bytes"
    default: return "monitor record \(opcode.rawValue), \(bytes.count) bytes"
    }
  }

  private static func text(_ bytes: some Collection<UInt8>) -> String {
    String(printable: bytes.prefix { $0 != 0 })
  }

  private static func address(_ bytes: some Collection<UInt8>) -> String {
    let address = Array(bytes.prefix(6)).withReader { try? BluetoothAddress(parsing: &$0, kind: .public) }
    return address.map(\.description) ?? "no address"
  }
}
