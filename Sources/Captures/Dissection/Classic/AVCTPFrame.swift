import HaloBluetoothCore

/// A message of AVCTP, and of AVRCP in it (AVCTP 1.4, 6.1; AVRCP 1.6, 6 and 22).
enum AVCTPFrame: ClassicProtocol {
  static let telling: Set = ["label", "operation", "event", "state", "volume", "error"]
  private static let remoteControl: UInt16 = 0x110E
  private static let types: [UInt8: String] = [
    0x0: "Control", 0x1: "Status", 0x2: "Specific Inquiry", 0x3: "Notify", 0x4: "General Inquiry",
    0x8: "Not Implemented", 0x9: "Accepted", 0xA: "Rejected", 0xB: "In Transition", 0xC: "Stable",
    0xD: "Changed", 0xF: "Interim",
  ]
  private static let opcodes: [UInt64: String] = [
    0x00: "Vendor Dependent", 0x30: "Unit Info", 0x31: "Subunit Info", 0x7C: "Pass Through",
  ]
  private static let pdus: [UInt64: String] = [
    0x10: "GetCapabilities", 0x11: "ListPlayerApplicationSettingAttributes",
    0x12: "ListPlayerApplicationSettingValues", 0x13: "GetCurrentPlayerApplicationSettingValue",
    0x14: "SetPlayerApplicationSettingValue", 0x15: "GetPlayerApplicationSettingAttributeText",
    0x16: "GetPlayerApplicationSettingValueText", 0x17: "InformDisplayableCharacterSet",
    0x18: "InformBatteryStatusOfCT", 0x20: "GetElementAttributes", 0x30: "GetPlayStatus",
    0x31: "RegisterNotification", 0x40: "RequestContinuingResponse", 0x41: "AbortContinuingResponse",
    0x50: "SetAbsoluteVolume", 0x60: "SetAddressedPlayer", 0x70: "SetBrowsedPlayer", 0x71: "GetFolderItems",
    0x72: "ChangePath", 0x73: "GetItemAttributes", 0x74: "PlayItem", 0x75: "GetTotalNumberOfItems",
    0x80: "Search", 0x90: "AddToNowPlaying", 0xA0: "GeneralReject",
  ]
  private static let events: [UInt64: String] = [
    0x01: "playback status changed", 0x02: "track changed", 0x03: "track reached end",
    0x04: "track reached start", 0x05: "playback position changed", 0x06: "battery status changed",
    0x07: "system status changed", 0x08: "player application setting changed",
    0x09: "now playing content changed", 0x0A: "available players changed",
    0x0B: "addressed player changed", 0x0C: "UIDs changed", 0x0D: "volume changed",
  ]
  private static let operations: [UInt8: String] = [
    0x00: "select", 0x01: "up", 0x02: "down", 0x03: "left", 0x04: "right", 0x09: "root menu", 0x0D: "exit",
    0x40: "power", 0x41: "volume up", 0x42: "volume down", 0x43: "mute", 0x44: "play", 0x45: "stop",
    0x46: "pause", 0x47: "record", 0x48: "rewind", 0x49: "fast forward", 0x4A: "eject", 0x4B: "forward",
    0x4C: "backward", 0x7E: "vendor unique",
  ]
  private static let errors: [UInt64: String] = [
    0x00: "invalid command", 0x01: "invalid parameter", 0x02: "parameter content error",
    0x03: "internal error", 0x05: "UID changed", 0x09: "does not exist", 0x0A: "not a directory",
    0x0B: "out of bounds", 0x11: "invalid player ID", 0x15: "no available players",
    0x16: "addressed player changed",
  ]

  static func reference(_ frame: RawSpan) -> String { "AVCTP 1.4, 6.1" }

  static func name(_ frame: RawSpan) -> String {
    guard let header = frame.byte(at: 0) else { return "AVCTP" }
    guard header >> 2 & 3 == 0, let high = frame.byte(at: 1), let low = frame.byte(at: 2),
      UInt16(high) << 8 | UInt16(low) == remoteControl, let type = frame.byte(at: 3),
      let opcode = frame.byte(at: 5)
    else {
      return "AVCTP \(header & 2 == 0 ? "command" : "response"), \(AVDTPFrame.parts[header >> 2 & 3] ?? "")"
    }
    let kind = types[type & 15] ?? "type \(type & 15)"
    if opcode == 0, let pdu = frame.byte(at: 9) {
      return "AVRCP \(pdus[UInt64(pdu)] ?? "PDU \(Hex.string(pdu))") \(kind)"
    }
    return "AVRCP \(opcodes[UInt64(opcode)] ?? "opcode \(Hex.string(opcode))") \(kind)"
  }

  static func list(_ lister: inout FieldLister) throws(DecodeError) {
    let header = try lister.byte("header") {
      "label \($0 >> 4), \(AVDTPFrame.parts[$0 >> 2 & 3] ?? ""), \($0 & 2 == 0 ? "command" : "response")"
        + ($0 & 1 == 0 ? "" : ", invalid profile")
    }
    lister.bits("label", header >> 4)
    if header >> 2 & 3 == 1 { try lister.byte("packets") }
    guard header >> 2 & 3 < 2 else { return lister.showRest("data") }
    let profile = try lister.show("profile", { r throws(DecodeError) in try r.readUInt16BigEndian() }) {
      UUIDName.described(BluetoothUUID($0))
    }
    guard header >> 2 & 3 == 0, profile == remoteControl, !lister.isAtEnd else {
      return lister.showRest("data")
    }
    try remoteControlMessage(&lister)
  }

  private static func remoteControlMessage(_ lister: inout FieldLister) throws(DecodeError) {
    let type = try lister.byte("type") {
      types[$0 & 15] ?? "\($0 & 15)"
    }
    try lister.byte("subunit") {
      "type \($0 >> 3), ID \($0 & 7)"
    }
    switch try lister.byte("opcode", opcodes) {
    case 0x00:
      try lister.show(
        "company",
        { r throws(DecodeError) in
          let high = UInt32(try r.readUInt8())
          return high << 16 | UInt32(try r.readUInt16BigEndian())
        }
      ) { $0 == 0x1958 ? "Bluetooth SIG (0x001958)" : Hex.string(UInt64($0), bytes: 3) }
      let pdu = try lister.byte("PDU", pdus)
      try lister.byte("packet type") {
        AVDTPFrame.parts[$0 & 3] ?? "\($0)"
      }
      try lister.word("parameter length", .unit("bytes"))
      try parameters(of: pdu, type & 15, &lister)
    case 0x7C:
      try lister.byte("operation") {
        let name: String = operations[$0 & 0x7F] ?? Hex.string($0 & 0x7F)
        return $0 & 0x80 == 0 ? "\(name) pressed" : "\(name) released"
      }
      if !lister.isAtEnd { try lister.byte("data length") }
    default: break
    }
    lister.showRest("data")
  }

  private static func parameters(
    of pdu: UInt8, _ type: UInt8, _ lister: inout FieldLister
  ) throws(DecodeError) {
    if type == 0xA { return lister.isAtEnd ? () : try show("error", errors, &lister) }
    switch pdu {
    case 0x31:
      let event = lister.peek(at: 0)
      try show("event", events, &lister)
      if event == 0x0D, type >= 8, !lister.isAtEnd { try volume(&lister) }
    case 0x50: try volume(&lister)
    default: break
    }
  }

  private static func show(
    _ name: StaticString, _ names: [UInt64: String], _ lister: inout FieldLister
  ) throws(DecodeError) {
    if !lister.isAtEnd { try lister.byte(name, names) }
  }

  private static func volume(_ lister: inout FieldLister) throws(DecodeError) {
    try lister.byte("volume") { volume in
      let percent = (Int(volume & 0x7F) * 100 + 63) / 127
      return "\(percent) percent"
    }
  }
}
