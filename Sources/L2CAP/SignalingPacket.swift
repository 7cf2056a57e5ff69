import BluetoothCore
import HCI

/// A command on the LE signalling channel: code, identifier, length, data (Core Specification Vol 3, Part A, 4).
public struct SignalingPacket: Hashable, Sendable {
  public struct Code: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    public static let commandReject = Code(rawValue: 0x01)
    public static let disconnectionRequest = Code(rawValue: 0x06)
    public static let disconnectionResponse = Code(rawValue: 0x07)
    public static let connectionParameterUpdateRequest = Code(rawValue: 0x12)
    public static let connectionParameterUpdateResponse = Code(rawValue: 0x13)
    public static let leCreditBasedConnectionRequest = Code(rawValue: 0x14)
    public static let leCreditBasedConnectionResponse = Code(rawValue: 0x15)
    public static let flowControlCredit = Code(rawValue: 0x16)
    public static let creditBasedConnectionRequest = Code(rawValue: 0x17)
    public static let creditBasedConnectionResponse = Code(rawValue: 0x18)
    public static let creditBasedReconfigureRequest = Code(rawValue: 0x19)
    public static let creditBasedReconfigureResponse = Code(rawValue: 0x1A)

    /// Whether it answers another command. Answers get no answer, not even when they are not known: else two
    /// devices could reject each other for ever.
    var isAnswer: Bool {
      switch self {
      case .commandReject, .disconnectionResponse, .connectionParameterUpdateResponse,
        .leCreditBasedConnectionResponse, .flowControlCredit, .creditBasedConnectionResponse,
        .creditBasedReconfigureResponse:
        true
      default: false
      }
    }
  }

  public var code: Code
  /// Pairs a request with its response; never zero.
  public var identifier: UInt8
  public var data: [UInt8]

  public init(code: Code, identifier: UInt8, data: [UInt8]) {
    self.code = code
    self.identifier = identifier
    self.data = data
  }

  /// Reads the one command that an LE signalling frame holds.
  /// - Throws: ``DecodeError`` if the length is not that of the data.
  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    code = Code(rawValue: try reader.readUInt8())
    identifier = try reader.readUInt8()
    data = try reader.readBytes(Int(try reader.readUInt16()))
    try reader.expectEnd()
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(code.rawValue)
    writer.write(identifier)
    writer.write(UInt16(truncatingIfNeeded: data.count))
    writer.write(data)
  }
}

/// What a peripheral wishes for with Connection Parameter Update Request (4.20).
public struct ConnectionParameterUpdateRequest: Hashable, Sendable {
  public var parameters: ConnectionParameters

  public init(_ parameters: ConnectionParameters) {
    self.parameters = parameters
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    parameters = ConnectionParameters(
      intervalMin: try ConnectionInterval(parsing: &reader),
      intervalMax: try ConnectionInterval(parsing: &reader), latency: try reader.readUInt16(),
      supervisionTimeout: try SupervisionTimeout(parsing: &reader))
    try reader.expectEnd()
  }

  /// The data of the signalling packet.
  public var data: [UInt8] {
    var writer = ByteWriter(capacity: 8)
    parameters.intervalMin.write(into: &writer)
    parameters.intervalMax.write(into: &writer)
    writer.write(parameters.latency)
    parameters.supervisionTimeout.write(into: &writer)
    return writer.bytes
  }
}
