import BluetoothCore

extension HCIEvent {
  public var code: HCIEventCode {
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
  public var subevent: LESubevent? {
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
    case .leChannelSelectionAlgorithm: .channelSelectionAlgorithm
    case .unknownLE(let subevent, _): subevent
    default: nil
    }
  }

  /// Writes a packet without its H4 type byte. Parameters are limited to the 255 bytes that the length can express.
  public func write(into writer: inout ByteWriter) {
    code.write(into: &writer)
    let start = writer.count
    writer.write(UInt8(0))
    subevent?.write(into: &writer)
    writeParameters(into: &writer)
    writer.overwrite(at: start, with: UInt8(clamping: writer.count - start - 1))
  }

  /// The complete packet with its H4 type byte: `04`, code, parameter length, parameters.
  public func packet(into writer: inout ByteWriter) {
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
    case .leChannelSelectionAlgorithm(let event): event.write(into: &writer)
    case .unknownLE(_, let parameters), .unknown(_, let parameters): writer.write(parameters)
    }
  }
}

extension HCIEvent: Equatable {
  /// Whether both have the same encoding.
  public static func == (left: HCIEvent, right: HCIEvent) -> Bool {
    var writers = (ByteWriter(), ByteWriter())
    left.write(into: &writers.0)
    right.write(into: &writers.1)
    return writers.0.bytes == writers.1.bytes
  }
}
