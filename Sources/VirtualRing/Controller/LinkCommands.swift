import BluetoothCore
import HCI

extension VirtualController {
  /// Commands about a link.
  func carryOutLink(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Bool {
    switch opcode {
    case Disconnect.opcode:
      begin(Disconnect.self, &reader) {
        check($0.handle)
      } then: { controller, _ in
        controller.afterEvents(1) { $0.disconnect(reason: .connectionTerminatedByLocalHost) }
      }
    case ReadRemoteVersionInformation.opcode:
      begin(ReadRemoteVersionInformation.self, &reader) {
        check($0.handle)
      } then: { controller, command in
        controller.afterExchange(2) {
          $0.send(
            .readRemoteVersionInformationComplete(
              .init {
                $0.handle = command.handle
                $0.version = CoreVersion(rawValue: 9)
                $0.manufacturer = CompanyIdentifier(rawValue: 0x005D)
                $0.subversion = 1
              }))
        }
      }
    case LEReadRemoteFeatures.opcode:
      begin(LEReadRemoteFeatures.self, &reader) {
        check($0.handle)
      } then: { controller, command in
        controller.afterExchange(2) {
          $0.send(
            .leReadRemoteFeaturesComplete(
              .init {
                $0.handle = command.handle
                $0.features = [.encryption, .dataPacketLengthExtension]
              }))
        }
      }
    case LEConnectionUpdate.opcode:
      begin(LEConnectionUpdate.self, &reader) { command in
        let status = check(command.handle)
        guard status == .success else { return status }
        return command.parameters.isLegal ? .success : .invalidCommandParameters
      } then: { controller, command in
        controller.afterExchange(6) { $0.update(command.parameters) }
      }
    case LESetPHY.opcode:
      begin(LESetPHY.self, &reader) {
        check($0.handle)
      } then: { controller, command in
        controller.afterExchange(6) { $0.choosePHY(command.preferred) }
      }
    case LEReadPHY.opcode:
      complete(LEReadPHY.self, &reader) { command in
        linked(command.handle).map { link in
          .init {
            $0.handle = link.handle
            $0.phys = link.phys
          }
        }
      }
    case LESetDataLength.opcode:
      complete(LESetDataLength.self, &reader) { command in
        guard (27...251).contains(command.transmit.octets), (328...17040).contains(command.transmit.time)
        else {
          return .failure(.invalidCommandParameters)
        }
        return linked(command.handle).map { link in
          afterExchange(2) { $0.changeDataLength(command.transmit.octets) }
          return .init(handle: link.handle)
        }
      }
    case ReadRSSI.opcode:
      complete(ReadRSSI.self, &reader) { command in
        linked(command.handle).map { link in
          .init {
            $0.handle = link.handle
            $0.rssi = options.rssi
          }
        }
      }
    case LERemoteConnectionParameterRequestReply.opcode:
      // The ring sends L2CAP requests, so there is never such a request to answer.
      complete(LERemoteConnectionParameterRequestReply.self, &reader) { _ in .failure(.commandDisallowed) }
    case LERemoteConnectionParameterRequestNegativeReply.opcode:
      complete(LERemoteConnectionParameterRequestNegativeReply.self, &reader) { _ in
        .failure(.commandDisallowed)
      }
    default: return false
    }
    return true
  }

  private func linked(_ handle: ConnectionHandle) -> Result<Link, HCIErrorCode> {
    guard let link, link.handle == handle else { return .failure(.unknownConnectionIdentifier) }
    return .success(link)
  }

  private func check(_ handle: ConnectionHandle) -> HCIErrorCode {
    link?.handle == handle ? .success : .unknownConnectionIdentifier
  }

  /// The controller takes the longest interval that it may.
  private func update(_ parameters: ConnectionParameters) {
    guard let handle = link?.handle else { return }
    link?.interval = parameters.intervalMax
    link?.anchor = timers.now
    peripheral.updated(interval: parameters.intervalMax)
    send(
      .leConnectionUpdateComplete(
        LEConnectionUpdateComplete {
          $0.handle = handle
          $0.parameters = LinkParameters(
            interval: parameters.intervalMax, latency: parameters.latency,
            supervisionTimeout: parameters.supervisionTimeout)
        }))
  }

  private func choosePHY(_ preferred: PreferredPHYs) {
    guard var link else { return }
    func choose(_ wanted: LEPHYs?, _ current: LEPHY) -> LEPHY {
      guard let wanted else { return current }
      return wanted.contains(.le2M) ? .le2M : .le1M
    }
    link.phys.transmit = choose(preferred.transmit, link.phys.transmit)
    link.phys.receive = choose(preferred.receive, link.phys.receive)
    self.link = link
    send(
      .lePHYUpdateComplete(
        .init {
          $0.handle = link.handle
          $0.phys = link.phys
        }))
  }
}
