import BluetoothCore

/// Chooses the LE events that the controller sends (Core Specification Vol 4, Part E, 7.8.1).
public struct LESetEventMask: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x2001)

  public var mask: LEEventMask

  public init(mask: LEEventMask) {
    self.mask = mask
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    mask = try LEEventMask(parsing: &reader)
  }

  public func write(into writer: inout ByteWriter) {
    mask.write(into: &writer)
  }
}

/// Asks for the controller's buffers for data on LE links. All zero: they share those of Read Buffer Size
/// (7.8.2).
public struct LEReadBufferSize: HCICompletingCommand, HCIEmpty, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x2002)

  public init() {}

  /// What the controller answers.
  public struct Response: HCICodable, Hashable {
    /// The most bytes in an ACL packet behind its header.
    public var aclDataLength: UInt16
    /// How many ACL packets the controller can hold.
    public var aclPackets: UInt8

    public init(aclDataLength: UInt16, aclPackets: UInt8) {
      self.aclDataLength = aclDataLength
      self.aclPackets = aclPackets
    }

    public init(parsing reader: inout ByteReader) throws(DecodeError) {
      aclDataLength = try reader.readUInt16()
      aclPackets = try reader.readUInt8()
    }

    public func write(into writer: inout ByteWriter) {
      writer.write(aclDataLength)
      writer.write(aclPackets)
    }
  }
}

/// Version 2 of LE Read Buffer Size, with the buffers for isochronous data (7.8.2).
public struct LEReadBufferSizeV2: HCICompletingCommand, HCIEmpty, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x2060)

  public init() {}

  /// What the controller answers.
  public struct Response: HCICodable, Hashable {
    /// The most bytes in an ACL packet behind its header.
    public var aclDataLength: UInt16
    /// How many ACL packets the controller can hold.
    public var aclPackets: UInt8
    public var isochronousDataLength: UInt16
    public var isochronousPackets: UInt8

    public init(
      aclDataLength: UInt16, aclPackets: UInt8, isochronousDataLength: UInt16, isochronousPackets: UInt8
    ) {
      self.aclDataLength = aclDataLength
      self.aclPackets = aclPackets
      self.isochronousDataLength = isochronousDataLength
      self.isochronousPackets = isochronousPackets
    }

    public init(parsing reader: inout ByteReader) throws(DecodeError) {
      aclDataLength = try reader.readUInt16()
      aclPackets = try reader.readUInt8()
      isochronousDataLength = try reader.readUInt16()
      isochronousPackets = try reader.readUInt8()
    }

    public func write(into writer: inout ByteWriter) {
      writer.write(aclDataLength)
      writer.write(aclPackets)
      writer.write(isochronousDataLength)
      writer.write(isochronousPackets)
    }
  }
}

/// Asks what the controller's link layer can do (7.8.3).
public struct LEReadLocalSupportedFeatures: HCICompletingCommand, HCIEmpty, Hashable {
  public typealias Response = LEFeatures

  public static let opcode = HCIOpcode(rawValue: 0x2003)

  public init() {}
}

/// Gives the controller the address that it uses where ``OwnAddressType/random`` is asked for. Not while it
/// scans, advertises or connects with it (7.8.4).
public struct LESetRandomAddress: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x2005)

  public var address: BluetoothAddress

  public init(address: BluetoothAddress) {
    self.address = address
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    address = try BluetoothAddress(parsing: &reader, kind: .random)
  }

  public func write(into writer: inout ByteWriter) {
    address.write(into: &writer)
  }
}

/// Empties the list of devices that filter policies accept (7.8.15).
public struct LEClearFilterAcceptList: HCICompletingCommand, HCIEmpty, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x2010)

  public init() {}
}

/// Adds a device to the list that filter policies accept (7.8.16).
public struct LEAddDeviceToFilterAcceptList: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x2011)

  public var address: BluetoothAddress

  public init(address: BluetoothAddress) {
    self.address = address
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    address = try reader.readAddress()
  }

  public func write(into writer: inout ByteWriter) {
    writer.writeAddress(address)
  }
}

/// Removes a device from the list that filter policies accept (7.8.17).
public struct LERemoveDeviceFromFilterAcceptList: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x2012)

  public var address: BluetoothAddress

  public init(address: BluetoothAddress) {
    self.address = address
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    address = try reader.readAddress()
  }

  public func write(into writer: inout ByteWriter) {
    writer.writeAddress(address)
  }
}

/// Says how long packets on new links may be (7.8.35).
public struct LEWriteSuggestedDefaultDataLength: HCICompletingCommand, Hashable {
  public typealias Response = NoReturnParameters

  public static let opcode = HCIOpcode(rawValue: 0x2024)

  /// 27 to 251 bytes.
  public var maxTxOctets: UInt16
  /// 328 to 17040 microseconds.
  public var maxTxTime: UInt16

  public init(maxTxOctets: UInt16, maxTxTime: UInt16) {
    self.maxTxOctets = maxTxOctets
    self.maxTxTime = maxTxTime
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    maxTxOctets = try reader.readUInt16()
    maxTxTime = try reader.readUInt16()
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(maxTxOctets)
    writer.write(maxTxTime)
  }
}

/// Asks how long packets may be at most (7.8.46).
public struct LEReadMaximumDataLength: HCICompletingCommand, HCIEmpty, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x202F)

  public init() {}

  /// What the controller answers.
  public struct Response: HCICodable, Hashable {
    /// The most payload bytes in a packet that is sent: 27 to 251.
    public var maxTxOctets: UInt16
    /// The longest time that a sent packet may take, in microseconds: 328 to 17040.
    public var maxTxTime: UInt16
    /// The same for packets that are received.
    public var maxRxOctets: UInt16
    public var maxRxTime: UInt16

    public init(maxTxOctets: UInt16, maxTxTime: UInt16, maxRxOctets: UInt16, maxRxTime: UInt16) {
      self.maxTxOctets = maxTxOctets
      self.maxTxTime = maxTxTime
      self.maxRxOctets = maxRxOctets
      self.maxRxTime = maxRxTime
    }

    public init(parsing reader: inout ByteReader) throws(DecodeError) {
      maxTxOctets = try reader.readUInt16()
      maxTxTime = try reader.readUInt16()
      maxRxOctets = try reader.readUInt16()
      maxRxTime = try reader.readUInt16()
    }

    public func write(into writer: inout ByteWriter) {
      writer.write(maxTxOctets)
      writer.write(maxTxTime)
      writer.write(maxRxOctets)
      writer.write(maxRxTime)
    }
  }
}
