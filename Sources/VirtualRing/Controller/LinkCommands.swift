import BluetoothCore
import HCI

extension VirtualController {
  /// Commands about a link.
  static let linkCommands: [VirtualCommand] = [
    .beginOnLink(Disconnect.self) { controller, command in
      guard let ring = controller.ring(command.handle) else { return }
      controller.afterEvents(1, of: ring) { $0.disconnect($1, reason: .connectionTerminatedByLocalHost) }
    },
    .beginOnLink(ReadRemoteVersionInformation.self) { controller, command in
      controller.afterExchange(2, on: command.handle) { controller, _ in
        controller.send(
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
      controller.afterExchange(2, on: command.handle) { controller, _ in
        controller.send(
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
      controller.afterExchange(6, on: command.handle) { $0.update(command.parameters, of: $1) }
    },
    .beginOnLink(LESetPHY.self, .version5) { controller, command in
      controller.afterExchange(6, on: command.handle) { $0.choosePHY(command.preferred, of: $1) }
    },
    .ofLink(LEReadPHY.self, .version5) { response, ring in
      if let link = ring.link { response.phys = link.phys }
    },
    .complete(LESetDataLength.self) { controller, command in
      guard (27...251).contains(command.transmit.octets), (328...17040).contains(command.transmit.time) else {
        return .failure(.invalidCommandParameters)
      }
      let status = controller.check(command.handle)
      guard status == .success else { return .failure(status) }
      controller.afterExchange(2, on: command.handle) {
        $0.changeDataLength(command.transmit.octets, of: $1)
      }
      return .success(.init(handle: command.handle))
    },
    .ofLink(ReadRSSI.self) { response, ring in response.rssi = ring.options.rssi },
    // Rings send L2CAP requests, so there is never such a request to answer.
    .complete(LERemoteConnectionParameterRequestReply.self) { _, _ in .failure(.commandDisallowed) },
    .complete(LERemoteConnectionParameterRequestNegativeReply.self) { _, _ in .failure(.commandDisallowed) },
  ]

  /// Whether a command may name this link.
  func check(_ handle: ConnectionHandle) -> HCIErrorCode {
    ring(handle) == nil ? .unknownConnectionIdentifier : .success
  }

  /// The controller takes the longest interval that it may.
  private func update(_ parameters: ConnectionParameters, of ring: RingInReach) {
    ring.link?.interval = parameters.intervalMax
    ring.link?.anchor = timers.now
    ring.peripheral.updated(interval: parameters.intervalMax)
    send(
      .leConnectionUpdateComplete(
        LEConnectionUpdateComplete {
          $0.handle = ring.handle
          $0.parameters = LinkParameters(
            interval: parameters.intervalMax, latency: parameters.latency,
            supervisionTimeout: parameters.supervisionTimeout)
        }))
  }

  private func choosePHY(_ preferred: PreferredPHYs, of ring: RingInReach) {
    guard var link = ring.link else { return }
    func choose(_ wanted: LEPHYs?, _ current: LEPHY) -> LEPHY {
      guard let wanted else { return current }
      return wanted.contains(.le2M) ? .le2M : .le1M
    }
    link.phys.transmit = choose(preferred.transmit, link.phys.transmit)
    link.phys.receive = choose(preferred.receive, link.phys.receive)
    ring.link = link
    send(
      .lePHYUpdateComplete(
        .init {
          $0.handle = link.handle
          $0.phys = link.phys
        }))
  }
}
