import HaloBluetoothCore

/// A PDU of the Service Discovery Protocol (Core Specification Vol 3, Part B, 4).
enum SDPFrame: ClassicProtocol {
  static let telling: Set = [
    "transaction", "UUID", "attribute range", "error", "attribute bytes", "service records",
  ]
  /// The deepest nesting of data elements that is taken apart.
  private static let depthLimit = 6

  private static let names: [UInt8: (name: String, section: String)] = [
    1: ("Error Response", "4.4.1"), 2: ("Service Search Request", "4.5.1"),
    3: ("Service Search Response", "4.5.2"), 4: ("Service Attribute Request", "4.6.1"),
    5: ("Service Attribute Response", "4.6.2"), 6: ("Service Search Attribute Request", "4.7.1"),
    7: ("Service Search Attribute Response", "4.7.2"),
  ]

  private static let errors: [UInt64: String] = [
    1: "unsupported version", 2: "invalid service record handle", 3: "invalid syntax", 4: "invalid PDU size",
    5: "invalid continuation state", 6: "insufficient resources",
  ]

  /// The universal attributes (5.1).
  private static let attributes: [UInt16: String] = [
    0x0000: "ServiceRecordHandle", 0x0001: "ServiceClassIDList", 0x0002: "ServiceRecordState",
    0x0003: "ServiceID", 0x0004: "ProtocolDescriptorList", 0x0005: "BrowseGroupList",
    0x0006: "LanguageBaseAttributeIDList", 0x0007: "ServiceInfoTimeToLive", 0x0008: "ServiceAvailability",
    0x0009: "BluetoothProfileDescriptorList", 0x000A: "DocumentationURL", 0x000B: "ClientExecutableURL",
    0x000C: "IconURL", 0x000D: "AdditionalProtocolDescriptorLists", 0x0100: "ServiceName",
    0x0101: "ServiceDescription", 0x0102: "ProviderName", 0x0311: "SupportedFeatures",
  ]

  static func name(_ frame: RawSpan) -> String {
    let code = frame.byte(at: 0) ?? 0
    return names[code]?.name ?? "SDP PDU \(Hex.string(code))"
  }

  static func reference(_ frame: RawSpan) -> String {
    "Vol 3, Part B, " + (names[frame.byte(at: 0) ?? 0]?.section ?? "4.2")
  }

  static func list(_ lister: inout FieldLister) throws(DecodeError) {
    var code: UInt8 = 0
    try lister.value("PDU", &code, .names(names.reduce(into: [:]) { $0[UInt64($1.key)] = $1.value.name }))
    try lister.word("transaction")
    try lister.word("parameter length", .unit("bytes"))
    switch code {
    case 1:
      var error = BigEndian<UInt16>()
      try lister.value("error", &error, .names(errors))
    case 2:
      try pattern(&lister)
      try lister.word("maximum records")
      try continuation(&lister)
    case 3:
      try lister.word("total records")
      let count = try lister.word("service records")
      for _ in 0..<count { try handle(&lister) }
      try continuation(&lister)
    case 4:
      try handle(&lister)
      try lister.word("maximum bytes", .unit("bytes"))
      try attributeIDs(&lister)
      try continuation(&lister)
    case 6:
      try pattern(&lister)
      try lister.word("maximum bytes", .unit("bytes"))
      try attributeIDs(&lister)
      try continuation(&lister)
    case 5, 7: try attributeLists(&lister)
    default: break
    }
  }

  private static func handle(_ lister: inout FieldLister) throws(DecodeError) {
    var handle = BigEndian<UInt32>()
    try lister.value("service record handle", &handle, .hex)
  }

  private static func pattern(_ lister: inout FieldLister) throws(DecodeError) {
    try lister.group("service search pattern") { lister throws(DecodeError) in
      try element(&lister, depth: 0, isAttributeList: false)
    }
  }

  private static func attributeIDs(_ lister: inout FieldLister) throws(DecodeError) {
    try lister.group("attribute IDs") { lister throws(DecodeError) in
      try element(&lister, depth: 0, isAttributeList: false, isIDList: true)
    }
  }

  /// The attributes, if this PDU has all of them; a part of them has no structure of its own.
  private static func attributeLists(_ lister: inout FieldLister) throws(DecodeError) {
    let length = Int(try lister.word("attribute bytes"))
    let isWhole = lister.remaining == length + 1 && lister.peek(at: length) == 0
    if isWhole {
      try lister.group("attribute lists") { lister throws(DecodeError) in
        try element(&lister, depth: 0, isAttributeList: true)
      }
    } else {
      var part: [UInt8] = []
      try lister.bytes("part of the attribute lists", &part, count: min(length, lister.remaining), .plain)
    }
    try continuation(&lister)
  }

  private static func continuation(_ lister: inout FieldLister) throws(DecodeError) {
    var state: [UInt8] = []
    let length = try lister.byte("continuation length")
    if length > 0 { try lister.bytes("continuation state", &state, count: Int(length), .plain) }
  }

  // MARK: Data elements

  /// A data element: type and size in one byte, then the size where it is longer, then the value (3).
  private static func element(
    _ lister: inout FieldLister, depth: Int, isAttributeList: Bool, isIDList: Bool = false,
    name: String? = nil
  ) throws(DecodeError) {
    let header = lister.peek(at: 0) ?? 0
    let type = header >> 3
    guard type == 6 || type == 7, depth < depthLimit else {
      return try value(&lister, isID: isIDList, name: name)
    }
    try lister.group(name ?? (type == 6 ? "sequence" : "alternative")) { lister throws(DecodeError) in
      let length = try size(&lister)
      guard length <= lister.remaining else {
        throw lister.missing(length)
      }
      let end = lister.offset + length
      // A list of attributes is pairs of a number and a value; a list of such lists is one, too.
      var isID = isAttributeList && lister.peek(at: 0).map { $0 == 0x09 } == true
      let isPaired = isID
      var attribute: String?
      while lister.offset < end {
        if isPaired, isID {
          attribute = attributeName(lister.peekWord(at: 1))
          try value(&lister, isID: true, name: "attribute")
        } else {
          try element(
            &lister, depth: depth + 1, isAttributeList: isAttributeList && !isPaired, isIDList: isIDList,
            name: attribute)
          attribute = nil
        }
        isID.toggle()
      }
    }
  }

  private static func attributeName(_ number: UInt16) -> String {
    attributes[number] ?? "attribute \(Hex.string(number))"
  }

  /// Reads the header of an element.
  ///
  /// - Returns: the length of its value, in bytes
  private static func size(_ lister: inout FieldLister) throws(DecodeError) -> Int {
    let header = try lister.byte("data element") {
      "type \($0 >> 3), size \($0 & 7)"
    }
    switch header & 7 {
    case 5: return Int(try lister.byte("length"))
    case 6: return Int(try lister.word("length"))
    case 7:
      var length = BigEndian<UInt32>()
      try lister.value("length", &length, .plain)
      return Int(length.value)
    case let index: return header >> 3 == 0 ? 0 : 1 << Int(index)
    }
  }

  /// An element that is no list: one field.
  private static func value(_ lister: inout FieldLister, isID: Bool, name: String?) throws(DecodeError) {
    let start = lister.offset
    let header = lister.peek(at: 0) ?? 0
    let type = header >> 3
    let bytes = try lister.take { reader throws(DecodeError) in
      try reader.skip(1)
      let length: Int
      switch header & 7 {
      case 5: length = Int(try reader.readUInt8())
      case 6: length = Int(try reader.readUInt16BigEndian())
      case 7: length = Int(try reader.readUInt32().byteSwapped)
      case let index: length = type == 0 ? 0 : 1 << Int(index)
      }
      return try reader.readBytes(length)
    }
    let number = bytes.count <= 8 ? bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } : nil
    let text: String
    var field = name ?? "value"
    switch type {
    case 0: text = "nil"
    case 1 where isID && bytes.count == 4:
      field = name ?? "attribute range"
      text = Hex.string(bytes.prefix(2)).hexNumber + "..." + Hex.string(bytes.suffix(2)).hexNumber
    case 1 where isID && bytes.count == 2: text = attributeName(UInt16(number ?? 0))
    case 1: text = number.map { "\($0)" } ?? Hex.string(bytes, separator: " ")
    case 2:
      text =
        number.map {
          "\(Int64(bitPattern: $0 << UInt64(64 - 8 * bytes.count)) >> Int64(64 - 8 * bytes.count))"
        }
        ?? Hex.string(bytes, separator: " ")
    case 3:
      field = name ?? "UUID"
      let reversed = Array(bytes.reversed())
      let uuid = reversed.withReader { try? BluetoothUUID(parsing: &$0, length: bytes.count) }
      text = uuid.map(UUIDName.described) ?? Hex.string(bytes, separator: " ")
    case 4, 8: text = "\"\(String(printable: bytes))\""
    case 5: text = number == 0 ? "false" : "true"
    default: text = Hex.string(bytes, separator: " ")
    }
    lister.note(field, text, from: start)
  }
}

extension String {
  fileprivate var hexNumber: String { "0x" + self }
}
