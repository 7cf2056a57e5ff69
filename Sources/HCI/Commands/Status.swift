import BluetoothCore

/// Asks for the strength of the last packet on a link (Core Specification Vol 4, Part E, 7.5.4).
public struct ReadRSSI: HCICompletingCommand, HCIHandleCodable, Hashable {
  public static let opcode = HCIOpcode(rawValue: 0x1405)

  public var handle: ConnectionHandle

  public init(handle: ConnectionHandle) {
    self.handle = handle
  }

  /// What the controller answers.
  public struct Response: HCICodable, Hashable {
    public var handle: ConnectionHandle
    /// In dBm; nil if the controller does not know.
    public var rssi: Int8?

    public init(handle: ConnectionHandle, rssi: Int8?) {
      self.handle = handle
      self.rssi = rssi
    }

    public init(parsing reader: inout ByteReader) throws(DecodeError) {
      handle = try ConnectionHandle(parsing: &reader)
      rssi = try reader.readPower()
    }

    public func write(into writer: inout ByteWriter) {
      handle.write(into: &writer)
      writer.writePower(rssi)
    }
  }
}
