import HaloBluetoothCore

/// An event sent by a controller (Core Specification Vol 4, Part E, 7.7).
package enum HCIEvent: Sendable, Equatable {
  case disconnectionComplete(DisconnectionComplete)
  case encryptionChange(EncryptionChange)
  case encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete)
  case readRemoteVersionInformationComplete(ReadRemoteVersionInformationComplete)
  case commandComplete(CommandComplete)
  case commandStatus(CommandStatus)
  case hardwareError(HardwareError)
  case numberOfCompletedPackets(NumberOfCompletedPackets)
  /// Any of the three forms.
  case leConnectionComplete(LEConnectionComplete)
  /// Legacy, directed or extended.
  case leAdvertisingReports(AdvertisingReports)
  case leConnectionUpdateComplete(LEConnectionUpdateComplete)
  case leReadRemoteFeaturesComplete(LEReadRemoteFeaturesComplete)
  case leLongTermKeyRequest(LELongTermKeyRequest)
  case leRemoteConnectionParameterRequest(LERemoteConnectionParameterRequest)
  case leDataLengthChange(LEDataLengthChange)
  case lePHYUpdateComplete(LEPHYUpdateComplete)
  /// The extended scan has ended after its duration (7.7.65.17).
  case leScanTimeout
  case leAdvertisingSetTerminated(LEAdvertisingSetTerminated)
  case leChannelSelectionAlgorithm(LEChannelSelectionAlgorithm)
  /// An unknown LE Meta event, with its parameters after the subevent code.
  case unknownLE(LESubevent, [UInt8])
  /// An unknown event, with its parameters.
  case unknown(HCIEventCode, [UInt8])

  /// Reads a packet without its H4 type byte: event code, length, parameters. Parameters after the last known one are
  /// ignored, as later versions of the specification may append some.
  /// - Throws: `DecodeError` if the length does not match the parameters, or if parameters are missing.
  package init(parsing packet: inout ByteReader) throws(DecodeError) {
    let code = try HCIEventCode(parsing: &packet)
    let length = Int(try packet.readUInt8())
    guard packet.remaining >= length else {
      throw DecodeError(
        offset: packet.offset, reason: .truncated(needed: length, available: packet.remaining))
    }
    guard packet.remaining == length else {
      throw DecodeError(offset: packet.offset + length, reason: .trailing(count: packet.remaining - length))
    }
    switch code {
    case .disconnectionComplete: self = .disconnectionComplete(try DisconnectionComplete(parsing: &packet))
    case .encryptionChange: self = .encryptionChange(try EncryptionChange(parsing: &packet))
    case .encryptionKeyRefreshComplete:
      self = .encryptionKeyRefreshComplete(try EncryptionKeyRefreshComplete(parsing: &packet))
    case .readRemoteVersionInformationComplete:
      self = .readRemoteVersionInformationComplete(
        try ReadRemoteVersionInformationComplete(parsing: &packet))
    case .commandComplete: self = .commandComplete(try CommandComplete(parsing: &packet))
    case .commandStatus: self = .commandStatus(try CommandStatus(parsing: &packet))
    case .hardwareError: self = .hardwareError(try HardwareError(parsing: &packet))
    case .numberOfCompletedPackets:
      self = .numberOfCompletedPackets(try NumberOfCompletedPackets(parsing: &packet))
    case .leMeta: try self.init(parsingLE: &packet)
    default: self = .unknown(code, packet.readRemainingBytes())
    }
    _ = packet.readRest()
  }

  private init(parsingLE packet: inout ByteReader) throws(DecodeError) {
    let subevent = try LESubevent(parsing: &packet)
    switch subevent {
    case .connectionComplete:
      self = .leConnectionComplete(try read(LEConnectionComplete(form: .plain), &packet))
    case .enhancedConnectionComplete:
      self = .leConnectionComplete(try read(LEConnectionComplete(form: .enhanced), &packet))
    case .enhancedConnectionCompleteV2:
      self = .leConnectionComplete(try read(LEConnectionComplete(form: .enhancedV2), &packet))
    case .advertisingReport:
      self = .leAdvertisingReports(try read(AdvertisingReports(form: .legacy), &packet))
    case .directedAdvertisingReport:
      self = .leAdvertisingReports(try read(AdvertisingReports(form: .directed), &packet))
    case .extendedAdvertisingReport:
      self = .leAdvertisingReports(try read(AdvertisingReports(form: .extended), &packet))
    case .connectionUpdateComplete:
      self = .leConnectionUpdateComplete(try LEConnectionUpdateComplete(parsing: &packet))
    case .readRemoteFeaturesComplete:
      self = .leReadRemoteFeaturesComplete(try LEReadRemoteFeaturesComplete(parsing: &packet))
    case .longTermKeyRequest: self = .leLongTermKeyRequest(try LELongTermKeyRequest(parsing: &packet))
    case .remoteConnectionParameterRequest:
      self = .leRemoteConnectionParameterRequest(try LERemoteConnectionParameterRequest(parsing: &packet))
    case .dataLengthChange: self = .leDataLengthChange(try LEDataLengthChange(parsing: &packet))
    case .phyUpdateComplete: self = .lePHYUpdateComplete(try LEPHYUpdateComplete(parsing: &packet))
    case .scanTimeout: self = .leScanTimeout
    case .advertisingSetTerminated:
      self = .leAdvertisingSetTerminated(try LEAdvertisingSetTerminated(parsing: &packet))
    case .channelSelectionAlgorithm:
      self = .leChannelSelectionAlgorithm(try LEChannelSelectionAlgorithm(parsing: &packet))
    default: self = .unknownLE(subevent, packet.readRemainingBytes())
    }
  }

  package static func == (left: HCIEvent, right: HCIEvent) -> Bool {
    var writers = (ByteWriter(), ByteWriter())
    left.write(into: &writers.0)
    right.write(into: &writers.1)
    return writers.0.bytes == writers.1.bytes
  }

  package var code: HCIEventCode {
    switch self {
    case .disconnectionComplete: .disconnectionComplete
    case .encryptionChange: .encryptionChange
    case .encryptionKeyRefreshComplete: .encryptionKeyRefreshComplete
    case .readRemoteVersionInformationComplete: .readRemoteVersionInformationComplete
    case .commandComplete: .commandComplete
    case .commandStatus: .commandStatus
    case .hardwareError: .hardwareError
    case .numberOfCompletedPackets: .numberOfCompletedPackets
    case .unknown(let code, _): code
    default: .leMeta
    }
  }

  /// The subevent code of an LE Meta event; nil for other events.
  package var subevent: LESubevent? {
    switch self {
    case .leConnectionComplete(let event): event.form.subevent
    case .leAdvertisingReports(let event): event.form.subevent
    case .leConnectionUpdateComplete: .connectionUpdateComplete
    case .leReadRemoteFeaturesComplete: .readRemoteFeaturesComplete
    case .leLongTermKeyRequest: .longTermKeyRequest
    case .leRemoteConnectionParameterRequest: .remoteConnectionParameterRequest
    case .leDataLengthChange: .dataLengthChange
    case .lePHYUpdateComplete: .phyUpdateComplete
    case .leScanTimeout: .scanTimeout
    case .leAdvertisingSetTerminated: .advertisingSetTerminated
    case .leChannelSelectionAlgorithm: .channelSelectionAlgorithm
    case .unknownLE(let subevent, _): subevent
    default: nil
    }
  }

  /// Writes a packet without its H4 type byte. Parameters are limited to the 255 bytes that the length can express.
  package func write(into writer: inout ByteWriter) {
    code.write(into: &writer)
    let start = writer.count
    writer.write(UInt8(0))
    subevent?.write(into: &writer)
    writeParameters(into: &writer)
    writer.overwrite(at: start, with: UInt8(clamping: writer.count - start - 1))
  }

  /// The complete packet with its H4 type byte: `04`, code, parameter length, parameters.
  package func packet(into writer: inout ByteWriter) {
    writer.removeAll()
    writer.write(HCIPacketType.event.rawValue)
    write(into: &writer)
  }

  private func writeParameters(into writer: inout ByteWriter) {
    switch self {
    case .disconnectionComplete(let event): event.write(into: &writer)
    case .encryptionChange(let event): event.write(into: &writer)
    case .encryptionKeyRefreshComplete(let event): event.write(into: &writer)
    case .readRemoteVersionInformationComplete(let event): event.write(into: &writer)
    case .commandComplete(let event): event.write(into: &writer)
    case .commandStatus(let event): event.write(into: &writer)
    case .hardwareError(let event): event.write(into: &writer)
    case .numberOfCompletedPackets(let event): event.write(into: &writer)
    case .leConnectionComplete(let event): event.write(into: &writer)
    case .leAdvertisingReports(let event): event.write(into: &writer)
    case .leConnectionUpdateComplete(let event): event.write(into: &writer)
    case .leReadRemoteFeaturesComplete(let event): event.write(into: &writer)
    case .leLongTermKeyRequest(let event): event.write(into: &writer)
    case .leRemoteConnectionParameterRequest(let event): event.write(into: &writer)
    case .leDataLengthChange(let event): event.write(into: &writer)
    case .lePHYUpdateComplete(let event): event.write(into: &writer)
    case .leScanTimeout: break
    case .leAdvertisingSetTerminated(let event): event.write(into: &writer)
    case .leChannelSelectionAlgorithm(let event): event.write(into: &writer)
    case .unknownLE(_, let parameters), .unknown(_, let parameters): writer.write(parameters)
    }
  }
}

/// Reads the fields into `prototype`, which determines the form.
private func read<Fields: PacketFields>(
  _ prototype: Fields, _ reader: inout ByteReader
) throws(DecodeError) -> Fields {
  var fields = prototype
  try fields.visit(&reader)
  return fields
}
