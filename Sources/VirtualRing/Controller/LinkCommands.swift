import BluetoothCore
import HCI

extension VirtualController {
  /// Commands about a link.
  static let linkCommands: [VirtualCommand] = [
    .beginOnLink(Disconnect.self) { controller, _ in
      controller.afterEvents(1) { $0.disconnect(reason: .connectionTerminatedByLocalHost) }
    },
    .beginOnLink(ReadRemoteVersionInformation.self) { controller, command in
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
    },
    .beginOnLink(LEReadRemoteFeatures.self) { controller, command in
      controller.afterExchange(2) {
        $0.send(
          .leReadRemoteFeaturesComplete(
            .init {
              $0.handle = command.handle
              $0.features = [.encryption, .dataPacketLengthExtension]
            }))
      }
    },
    .begin(LEConnectionUpdate.self) { controller, command in
      let status = controller.check(command.handle)
      return status == .success && !command.parameters.isLegal ? .invalidCommandParameters : status
    } then: { controller, command in
      controller.afterExchange(6) { $0.update(command.parameters) }
    },
    .beginOnLink(LESetPHY.self, .version5) { controller, command in
      controller.afterExchange(6) { $0.choosePHY(command.preferred) }
    },
    .ofLink(LEReadPHY.self, .version5) { response, controller in
      if let link = controller.link { response.phys = link.phys }
    },
    .complete(LESetDataLength.self) { controller, command in
      guard (27...251).contains(command.transmit.octets), (328...17040).contains(command.transmit.time) else {
        return .failure(.invalidCommandParameters)
      }
      let status = controller.check(command.handle)
      guard status == .success else { return .failure(status) }
      controller.afterExchange(2) { $0.changeDataLength(command.transmit.octets) }
      return .success(.init(handle: command.handle))
    },
    .ofLink(ReadRSSI.self) { response, controller in response.rssi = controller.options.rssi },
    // The ring sends L2CAP requests, so there is never such a request to answer.
    .complete(LERemoteConnectionParameterRequestReply.self) { _, _ in .failure(.commandDisallowed) },
    .complete(LERemoteConnectionParameterRequestNegativeReply.self) { _, _ in .failure(.commandDisallowed) },
  ]

  /// Whether a command may name this link.
  func check(_ handle: ConnectionHandle) -> HCIErrorCode {
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
