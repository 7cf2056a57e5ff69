import BluetoothCore

/// A comment in a capture for information that no packet carries, such as the time zone. It is stored as a
/// vendor-specific HCI event (code 0xFF) from the controller that begins with a signature. Wireshark and btmon show it
/// among the packets; a replay removes it.
public enum CaptureNote {
  static let signature = Array("halo-raw: ".utf8)
  private static let eventType: UInt8 = 4
  private static let vendorSpecific: UInt8 = 0xFF
  /// An event has up to 255 bytes.
  public static let maximumLength = 255 - signature.count

  /// The packet, with its H4 type byte. Text that is too long is truncated.
  public static func packet(_ text: String) -> [UInt8] {
    let text = text.utf8.prefix(maximumLength)
    return [eventType, vendorSpecific, UInt8(signature.count + text.count)] + signature + text
  }

  /// The text; nil if the packet is not a note.
  public static func text(of packet: [UInt8]) -> String? {
    guard packet.count >= 3 + signature.count, packet[0] == eventType, packet[1] == vendorSpecific,
      Int(packet[2]) == packet.count - 3, packet[3..<3 + signature.count].elementsEqual(signature)
    else { return nil }
    return String(printable: packet[(3 + signature.count)...])
  }
}
