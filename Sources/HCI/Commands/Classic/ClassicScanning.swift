import HaloBluetoothCore

// Commands for being found and connected to on BR/EDR. The stack does not send them; they are decoded for captures
// of other hosts (Core Specification Vol 4, Part E, 7.1 to 7.5).

/// How long a request to connect may wait.
struct WriteConnectionAcceptTimeout: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C16, "Write Connection Accept Timeout", "7.3.14", octet: 7, bit: 3)

  var timeout: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("connection accept timeout", &timeout, .unit("slots"))
  }
}

/// Reads how long to page a device.
struct ReadPageTimeout: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C17, "Read Page Timeout", "7.3.15", octet: 7, bit: 4)

  struct Response: PacketFields {
    var timeout: UInt16 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("page timeout", &timeout, .unit("slots"))
    }
  }
}

/// Sets how long to page a device.
struct WritePageTimeout: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C18, "Write Page Timeout", "7.3.16", octet: 7, bit: 5)

  var timeout: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("page timeout", &timeout, .unit("slots"))
  }
}

/// Reads which scans are on.
struct ReadScanEnable: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C19, "Read Scan Enable", "7.3.17", octet: 7, bit: 6)

  struct Response: PacketFields {
    var scans: UInt8 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value(
        "scan enable", &scans,
        .names([0: "off", 1: "inquiry scan", 2: "page scan", 3: "inquiry scan and page scan"]))
    }
  }
}

/// Reads the page scan.
struct ReadPageScanActivity: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C1B, "Read Page Scan Activity", "7.3.19", octet: 8, bit: 0)

  struct Response: PacketFields {
    var interval: UInt16 = 0
    var window: UInt16 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("page scan interval", &interval, .unit("slots"))
      try fields.value("page scan window", &window, .unit("slots"))
    }
  }
}

/// Sets the page scan.
struct WritePageScanActivity: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C1C, "Write Page Scan Activity", "7.3.20", octet: 8, bit: 1)

  var interval: UInt16 = 0
  var window: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("page scan interval", &interval, .unit("slots"))
    try fields.value("page scan window", &window, .unit("slots"))
  }
}

/// Sets the inquiry scan.
struct WriteInquiryScanActivity: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C1E, "Write Inquiry Scan Activity", "7.3.22", octet: 8, bit: 3)

  var interval: UInt16 = 0
  var window: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("inquiry scan interval", &interval, .unit("slots"))
    try fields.value("inquiry scan window", &window, .unit("slots"))
  }
}

/// Reads how many inquiry codes are listened to.
struct ReadNumberOfSupportedIAC: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C38, "Read Number of Supported IAC", "7.3.43", octet: 11, bit: 2)

  struct Response: PacketFields {
    var count: UInt8 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("supported IACs", &count)
    }
  }
}

/// Sets the inquiry scan.
struct WriteInquiryScanType: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C43, "Write Inquiry Scan Type", "7.3.48", octet: 12, bit: 5)

  var type: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("inquiry scan type", &type, .names([0: "standard", 1: "interlaced"]))
  }
}

/// Sets the form of inquiry results.
struct WriteInquiryMode: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C45, "Write Inquiry Mode", "7.3.50", octet: 12, bit: 7)

  var mode: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("inquiry mode", &mode, .names([0: "standard", 1: "with RSSI", 2: "extended"]))
  }
}

/// Sets the page scan.
struct WritePageScanType: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C47, "Write Page Scan Type", "7.3.52", octet: 13, bit: 1)

  var type: UInt8 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("page scan type", &type, .names([0: "standard", 1: "interlaced"]))
  }
}

/// Sets the data in answers to inquiries.
struct WriteExtendedInquiryResponse: HCICompletingCommand {
  static let info = HCICommandInfo(0x0C52, "Write Extended Inquiry Response", "7.3.56", octet: 17, bit: 1)

  var fec = false
  var data: [UInt8] = []

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("FEC required", &fec)
    try fields.bytes("data", &data, count: fields.bytesLeft ?? 240, as: ADFields.self)
  }
}

/// Reads the power of answers to inquiries.
struct ReadInquiryResponseTransmitPowerLevel: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(
    0x0C58, "Read Inquiry Response Transmit Power Level", "7.3.61", octet: 18, bit: 0)

  struct Response: PacketFields {
    var power: Int8 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("transmit power", &power, .power)
    }
  }
}

/// Reads whether the host supports LE.
struct ReadLEHostSupport: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x0C6C, "Read LE Host Support", "7.3.78", octet: 24, bit: 5)

  struct Response: PacketFields {
    var enabled = false
    var unused: UInt8 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("LE supported", &enabled)
      try fields.value("unused", &unused)
    }
  }
}

/// Reads the buffers of the controller.
struct ReadDataBlockSize: HCICompletingCommand, HCIEmpty {
  static let info = HCICommandInfo(0x100A, "Read Data Block Size", "7.4.7", octet: 23, bit: 2)

  struct Response: PacketFields {
    var packet: UInt16 = 0
    var length: UInt16 = 0
    var count: UInt16 = 0

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("maximum ACL length", &packet, .unit("bytes"))
      try fields.value("block length", &length, .unit("bytes"))
      try fields.value("blocks", &count)
    }
  }
}
