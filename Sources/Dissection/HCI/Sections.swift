import HCI

extension HCIOpcode {
  /// Where the specification has the command; its chapter, where only that is known here.
  var section: String {
    let chapter =
      switch group {
      case 0x01: "7.1"
      case 0x02: "7.2"
      case 0x03: "7.3"
      case 0x04: "7.4"
      case 0x05: "7.5"
      case 0x06: "7.6"
      case 0x08: "7.8"
      default: "5.4.1"
      }
    return "Vol 4, Part E, " + (subsection.map { "\(chapter).\($0)" } ?? chapter)
  }

  private var subsection: Int? {
    switch rawValue {
    case 0x2001...0x2003: Int(command)
    // The chapter has no section for 0x2004, and goes on in the order of the numbers.
    case 0x2005...0x204E: Int(command) - 1
    case 0x2060: 2
    case 0x0401...0x0406: Int(command)
    case 0x041D: 23
    case 0x0C01: 1
    case 0x0C03: 2
    case 0x0C05: 3
    case 0x0C6D: 79
    case 0x1001...0x1005: Int(command)
    case 0x1009: 6
    case 0x1405: 4
    default: nil
    }
  }
}

extension HCIEventCode {
  var section: String {
    let number: Int? =
      switch rawValue {
      case 0x01...0x1C: Int(rawValue)
      case 0x1D, 0x1E: Int(rawValue)
      case 0x20...0x23: Int(rawValue) - 1
      case 0x2C...0x36: Int(rawValue) - 9
      case 0x38, 0x39: Int(rawValue) - 10
      case 0x3B...0x3D: Int(rawValue) - 11
      case 0x3E: 65
      default: nil
      }
    return "Vol 4, Part E, 7.7" + (number.map { ".\($0)" } ?? "")
  }
}

extension LESubevent {
  var section: String {
    let number: Int? =
      switch rawValue {
      case 0x01...0x23: Int(rawValue)
      // Later versions of an event stand where the first one does.
      case 0x24: 14
      case 0x25: 15
      case 0x26: 24
      case 0x27, 0x28: Int(rawValue) - 3
      case 0x29: 10
      case 0x2A: 25
      default: nil
      }
    return "Vol 4, Part E, 7.7.65" + (number.map { ".\($0)" } ?? "")
  }
}
