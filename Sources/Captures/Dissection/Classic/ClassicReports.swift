import BluetoothCore
import HCI

/// The results of an inquiry in a line, as those of a scan.
enum ClassicReports {
  /// - Parameter packet: an inquiry result of one of the three forms, with its H4 type byte
  static func text(_ packet: RawSpan, _ event: HCIEventCode) -> String {
    guard var result = HCIEventInfo[event]?.parameters as? InquiryResult else { return "" }
    var reader = ByteReader(packet.extracting(min(3, packet.byteCount)..<packet.byteCount))
    do throws(DecodeError) {
      try result.visit(&reader)
    } catch {
      return "damaged"
    }
    let words = result.devices.map { device in
      let data = AdvertisingData(device.data)
      var words = "\(device.address)"
      if let name = data.localName { words += " \"\(name)\"" }
      if let rssi = device.rssi { words += ", \(rssi) dBm" }
      return words
    }
    return words.joined(separator: "; ")
  }
}
