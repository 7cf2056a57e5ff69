import BluetoothCore

/// A version of the Core Specification, as controllers give it (Assigned Numbers, 2.1).
public struct CoreVersion: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  private static let names = [
    "1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4", "6.0",
    "6.1",
  ]
}

extension CoreVersion: CustomStringConvertible {
  /// `5.4`.
  public var description: String {
    Self.names.indices.contains(Int(rawValue)) ? Self.names[Int(rawValue)] : "version \(rawValue)"
  }
}

/// The number of a company: of a chip's maker, or in front of manufacturer data (Assigned Numbers, 7).
public struct CompanyIdentifier: HCICode {
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }
}

extension CompanyIdentifier: CustomStringConvertible {
  public var description: String { Hex.string(rawValue) }
}

/// Which end of a link this is (Core Specification Vol 4, Part E, 7.7.65.1).
public struct LERole: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let central = LERole(rawValue: 0)
  public static let peripheral = LERole(rawValue: 1)
}

extension LERole: CustomStringConvertible {
  public var description: String {
    switch self {
    case .central: "central"
    case .peripheral: "peripheral"
    default: "role \(rawValue)"
    }
  }
}

/// A physical layer (7.7.65.12).
public struct LEPHY: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// No packets are sent on the secondary channels (7.7.65.13).
  public static let none = LEPHY(rawValue: 0)
  public static let le1M = LEPHY(rawValue: 1)
  public static let le2M = LEPHY(rawValue: 2)
  public static let leCoded = LEPHY(rawValue: 3)
}

extension LEPHY: CustomStringConvertible {
  public var description: String {
    switch self {
    case .none: "none"
    case .le1M: "LE 1M"
    case .le2M: "LE 2M"
    case .leCoded: "LE Coded"
    default: "PHY \(rawValue)"
    }
  }
}

/// A set of physical layers that a host would accept (7.8.49).
public struct LEPHYs: OptionSet, HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let le1M = LEPHYs(rawValue: 1)
  public static let le2M = LEPHYs(rawValue: 2)
  public static let leCoded = LEPHYs(rawValue: 4)
}

/// The address that a controller shall use for itself (7.8.10).
public struct OwnAddressType: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let `public` = OwnAddressType(rawValue: 0)
  /// The one set with LE Set Random Address.
  public static let random = OwnAddressType(rawValue: 1)
  public static let resolvableOrPublic = OwnAddressType(rawValue: 2)
  public static let resolvableOrRandom = OwnAddressType(rawValue: 3)
}

extension OwnAddressType: CustomStringConvertible {
  public var description: String {
    switch self {
    case .public: "public"
    case .random: "random"
    case .resolvableOrPublic: "resolvable or public"
    case .resolvableOrRandom: "resolvable or random"
    default: "type \(rawValue)"
    }
  }
}

/// How exact the clock of the central is (7.7.65.1).
public struct ClockAccuracy: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let ppm500 = ClockAccuracy(rawValue: 0)
  public static let ppm250 = ClockAccuracy(rawValue: 1)
  public static let ppm150 = ClockAccuracy(rawValue: 2)
  public static let ppm100 = ClockAccuracy(rawValue: 3)
  public static let ppm75 = ClockAccuracy(rawValue: 4)
  public static let ppm50 = ClockAccuracy(rawValue: 5)
  public static let ppm30 = ClockAccuracy(rawValue: 6)
  public static let ppm20 = ClockAccuracy(rawValue: 7)
}

extension ClockAccuracy: CustomStringConvertible {
  public var description: String {
    switch self {
    case .ppm500: "500 ppm"
    case .ppm250: "250 ppm"
    case .ppm150: "150 ppm"
    case .ppm100: "100 ppm"
    case .ppm75: "75 ppm"
    case .ppm50: "50 ppm"
    case .ppm30: "30 ppm"
    case .ppm20: "20 ppm"
    default: "accuracy \(rawValue)"
    }
  }
}
