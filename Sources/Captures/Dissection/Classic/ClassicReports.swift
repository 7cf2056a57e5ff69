import HCI
import HaloBluetoothCore

/// The results of an inquiry in a line, as those of a scan.
enum ClassicReports {
  /// The devices in an inquiry result; nil if it is damaged.
  ///
  /// - Parameters:
  ///   - packet: with its H4 type byte
  ///   - event: one of the three forms
  static func devices(
    _ packet: RawSpan, _ event: HCIEventCode
  ) -> [(address: BluetoothAddress, rssi: Int8?, data: [UInt8])]? {
    guard var result = HCIEventInfo[event]?.parameters as? InquiryResult else { return nil }
    var reader = ByteReader(packet.extracting(min(3, packet.byteCount)..<packet.byteCount))
    return (try? result.visit(&reader)).map { result.devices }
  }

  static func text(_ packet: RawSpan, _ event: HCIEventCode) -> String {
    guard let devices = devices(packet, event) else { return "damaged" }
    let words = devices.map { device in
      let data = AdvertisingData(device.data)
      var words = "\(device.address)"
      if let name = data.localName { words += " \"\(name)\"" }
      if let rssi = device.rssi { words += ", \(rssi) dBm" }
      return words
    }
    return words.joined(separator: "; ")
  }
}
