import HaloBluetoothCore

/// A device that was found with an inquiry (Core Specification Vol 4, Part E, 7.7.2, 7.7.33 and 7.7.38).
struct InquiryResponse: PacketFields {
  /// The three forms of the event.
  enum Form: Sendable {
    case plain, withRSSI, extended
  }

  /// How often a device scans for pages.
  static let repetitionModes: [UInt64: String] = [0: "R0", 1: "R1", 2: "R2"]

  var form = Form.plain
  var peerAddress = BluetoothAddress.zero
  var repetitionMode: UInt8 = 0
  var reserved: [UInt8] = []
  var classOfDevice = ClassOfDevice()
  var clockOffset: UInt16 = 0
  /// In dBm.
  var rssi: Int8 = 0
  /// AD structures.
  var data: [UInt8] = []

  init() {}

  init(_ form: Form) { self.form = form }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("peer address", &peerAddress, kind: .public)
    try fields.value("page scan repetition mode", &repetitionMode, .names(Self.repetitionModes))
    try fields.bytes("reserved", &reserved, count: form == .plain ? 2 : 1)
    try fields.value("class of device", &classOfDevice)
    try fields.value("clock offset", &clockOffset, .hex)
    if form != .plain { try fields.value("RSSI", &rssi, .power) }
    if form == .extended {
      try fields.bytes("data", &data, count: fields.bytesLeft ?? data.count, as: ADFields.self)
    }
  }
}

/// The responses of an inquiry in one event.
package struct InquiryResult: PacketFields {
  private var form = InquiryResponse.Form.plain
  private var responses: [InquiryResponse] = []

  package init() {}

  init(_ form: InquiryResponse.Form) { self.form = form }

  /// Address, RSSI and AD structures of each response.
  package var devices: [(address: BluetoothAddress, rssi: Int8?, data: [UInt8])] {
    responses.map { ($0.peerAddress, $0.form == .plain ? nil : $0.rssi, $0.data) }
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var count = UInt8(clamping: responses.count)
    try fields.value("responses", &count)
    for index in 0..<Int(count) {
      if index == responses.count { responses.append(InquiryResponse(form)) }
      try fields.group("response", number: index + 1, &responses[index])
    }
  }
}
