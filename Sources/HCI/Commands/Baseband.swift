import BluetoothCore

/// Chooses the events that the controller sends (Core Specification Vol 4, Part E, 7.3.1).
public struct SetEventMask: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x0C01)

  public var mask: EventMask

  public init(mask: EventMask) {
    self.mask = mask
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    mask = try EventMask(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    mask.write(into: &writer)
  }
}

/// Returns the controller to the state after power-on: no links, no scan, default masks (7.3.2).
public struct Reset: HCICompletingCommand, HCIEmpty, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x0C03)

  public init() {}
}

/// Tells a controller for BR/EDR and LE that its host speaks LE (7.3.79).
public struct WriteLEHostSupport: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x0C6D)

  public var isSupported: Bool
  /// Reserved: zero.
  public var simultaneous: UInt8

  public init(isSupported: Bool, simultaneous: UInt8 = 0) {
    self.isSupported = isSupported
    self.simultaneous = simultaneous
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    isSupported = try reader.readBool()
    simultaneous = try reader.readUInt8()
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(isSupported)
    writer.write(simultaneous)
  }
}
