import HCI

/// The public names of vendor-specific commands and events. The manufacturer of the controller decides which apply; it is
/// known once Read Local Version Information or the monitor has named it.
enum VendorNames {
  private enum Vendor: String {
    case broadcom = "Broadcom"
    case intel = "Intel"
    case realtek = "Realtek"

    init?(_ company: CompanyIdentifier) {
      switch company.rawValue {
      // Broadcom, Cypress, Infineon: the chips of a Raspberry Pi.
      case 0x000F, 0x0131, 0x0009: self = .broadcom
      case 0x0002: self = .intel
      case 0x005D: self = .realtek
      default: return nil
      }
    }

    var commands: [UInt16: String] {
      switch self {
      case .broadcom: VendorNames.broadcomCommands
      case .intel: VendorNames.intelCommands
      case .realtek: VendorNames.realtekCommands
      }
    }

    var events: [UInt8: String] {
      switch self {
      case .broadcom: [:]
      case .intel: VendorNames.intelEvents
      case .realtek: VendorNames.realtekEvents
      }
    }
  }

  /// `Broadcom Update UART Baud Rate`; nil if unknown.
  static func name(of opcode: HCIOpcode, _ manufacturer: CompanyIdentifier?) -> String? {
    let vendor = manufacturer.flatMap(Vendor.init)
    if let vendor, let name = vendor.commands[opcode.command] { return "\(vendor.rawValue) \(name)" }
    guard vendor == nil || vendor == .broadcom else { return nil }
    return androidCommands[opcode.command].map { "Android \($0)" }
  }

  /// `Intel Bootup`; nil if unknown.
  ///
  /// - Parameter code: the first byte of the event's parameters
  static func name(ofEvent code: UInt8, _ manufacturer: CompanyIdentifier?) -> String? {
    let vendor = manufacturer.flatMap(Vendor.init)
    if let vendor, let name = vendor.events[code] { return "\(vendor.rawValue) \(name)" }
    guard vendor == nil || vendor == .broadcom else { return nil }
    return androidEvents[code].map { "Android \($0)" }
  }

  /// From the drivers of Linux and BlueZ.
  private static let broadcomCommands: [UInt16: String] = [
    0x001: "Write BD ADDR", 0x018: "Update UART Baud Rate", 0x01C: "Write SCO PCM Int Param",
    0x01D: "Read SCO PCM Int Param", 0x01E: "Write PCM Data Format Param",
    0x01F: "Read PCM Data Format Param",
    0x027: "Set Sleepmode Param", 0x028: "Read Sleepmode Param", 0x02E: "Download Minidriver",
    0x034: "Enable Radio", 0x03B: "Enable USB HID Emulation", 0x044: "Read UART Clock Setting",
    0x045: "Write UART Clock Setting", 0x04C: "Write RAM", 0x04D: "Read RAM", 0x04E: "Launch RAM",
    0x057: "Write High Priority Connection", 0x05A: "Read VID PID", 0x06D: "Write I2SPCM Interface Param",
    0x06E: "Read Controller Features", 0x079: "Read Verbose Config Version Info",
  ]

  private static let intelCommands: [UInt16: String] = [
    0x001: "Reset", 0x002: "No Operation", 0x005: "Read Version", 0x006: "Set UART Baudrate",
    0x007: "Enable LPM",
    0x008: "PCM Write Configuration", 0x009: "Secure Send", 0x00D: "Read Secure Boot Params",
    0x00E: "Write Secure Boot Params", 0x00F: "Unlock", 0x010: "Change UART Baudrate",
    0x011: "Manufacturer Mode",
    0x012: "Read Link RSSI", 0x022: "Get Exception Info", 0x024: "Clear Exception Info",
    0x02F: "Write BD Data",
    0x030: "Read BD Data", 0x031: "Write BD Address", 0x032: "Flow Specification", 0x034: "Read Secure ID",
    0x038: "Set Synchronous USB Interface Type", 0x039: "Config Synchronous Interface", 0x03F: "SW RF Kill",
    0x043: "Activate Deactivate Traces", 0x04D: "Stimulate Exception", 0x050: "Read HW Version",
    0x052: "Set Event Mask", 0x053: "Config Link Controller", 0x089: "DDC Write", 0x08A: "DDC Read",
    0x08B: "DDC Config Write", 0x08C: "DDC Config Read", 0x08D: "Memory Read", 0x08E: "Memory Write",
    0x0A6: "Read Supported Features", 0x20B: "PPAG Enable",
  ]

  private static let intelEvents: [UInt8: String] = [
    0x00: "Startup", 0x01: "Fatal Exception", 0x02: "Bootup", 0x05: "Default BD Data",
    0x06: "Secure Send Commands Result", 0x08: "Debug Exception", 0x0F: "LE Link Established",
    0x11: "Scan Status", 0x16: "Activate Deactivate Traces Complete", 0x17: "LMP PDU Trace",
    0x19: "Write BD Data Complete", 0x25: "SCO Rejected via LMP", 0x26: "PTT Switch Notification",
    0x29: "System Exception", 0x2C: "FW Trace String", 0x2E: "FW Trace Binary",
  ]

  private static let realtekCommands: [UInt16: String] = [
    0x017: "Set UART Baudrate", 0x020: "Download Firmware", 0x061: "Read Register", 0x062: "Write Register",
    0x06D: "Read ROM Version", 0x066: "Drop Firmware",
  ]

  private static let realtekEvents: [UInt8: String] = [0x34: "Core Dump"]

  /// Android's Bluetooth HCI requirements, which several manufacturers implement.
  private static let androidCommands: [UInt16: String] = [
    0x153: "LE Get Vendor Capabilities", 0x154: "LE Multi Advertising", 0x156: "LE Batch Scan",
    0x157: "LE Advertising Packet Content Filter", 0x158: "LE Track Advertiser",
    0x159: "Get Controller Activity Energy Info",
    0x15A: "LE Extended Set Scan Parameters", 0x15B: "Get Controller Debug Info",
    0x15D: "A2DP Hardware Offload",
    0x15E: "Bluetooth Quality Report", 0x15F: "Dynamic Audio Buffer",
  ]

  private static let androidEvents: [UInt8: String] = [
    0x54: "LE Batch Scan Storage Threshold", 0x55: "LE Multi Advertising State Change",
    0x56: "LE Advertisement Tracking", 0x57: "Controller Debug Info", 0x58: "Bluetooth Quality Report",
  ]
}
