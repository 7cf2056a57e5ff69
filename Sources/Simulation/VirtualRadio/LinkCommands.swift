import HCI

extension VirtualController {
  /// Commands about a link.
  static let linkCommands: [VirtualCommand] = [
    .beginOnLink(Disconnect.self) { controller, command in
      guard let link = controller.link(command.handle) else { return }
      let isCentral = link.central === controller
      link.afterEvents(1) {
        if isCentral {
          $0.end(.connectionTerminatedByLocalHost, command.reason)
        } else {
          $0.end(command.reason, .connectionTerminatedByLocalHost)
        }
      }
    },
    .beginOnLink(ReadRemoteVersionInformation.self) { controller, command in
      controller.afterExchange(2, on: command.handle) { controller, _, peer in
        let version = peer.version
        controller.send(
          .readRemoteVersionInformationComplete(
            .init {
              $0.handle = command.handle
              $0.version = version.version
              $0.manufacturer = version.manufacturer
              $0.subversion = version.subversion
            }))
      }
    },
    .beginOnLink(LEReadRemoteFeatures.self) { controller, command in
      controller.afterExchange(2, on: command.handle) { controller, _, peer in
        controller.send(
          .leReadRemoteFeaturesComplete(
            .init {
              $0.handle = command.handle
              $0.features = peer.features
            }))
      }
    },
    .begin(LEConnectionUpdate.self) { controller, command in
      let status = controller.check(command.handle)
      return status == .success && !command.parameters.isLegal ? .invalidCommandParameters : status
    } then: { controller, command in
      controller.afterExchange(6, on: command.handle) { controller, link, _ in
        if link.central === controller { return link.update(command.parameters) }
        link.central?.parametersRequested(command.parameters, on: link)
      }
    },
    .complete(LERemoteConnectionParameterRequestReply.self) { controller, command in
      guard let link = controller.link(command.handle), link.takeRequest() else {
        return .failure(.commandDisallowed)
      }
      link.afterExchange(6) { $0.update(command.parameters) }
      return .success(.init(handle: command.handle))
    },
    .complete(LERemoteConnectionParameterRequestNegativeReply.self) { controller, command in
      guard let link = controller.link(command.handle), link.takeRequest() else {
        return .failure(.commandDisallowed)
      }
      link.afterExchange(1) { link in
        (link.peripheral as? VirtualController)?.parametersRefused(on: link)
      }
      return .success(.init(handle: command.handle))
    },
    .beginOnLink(LESetPHY.self, .version5) { controller, command in
      controller.afterExchange(6, on: command.handle) { _, link, _ in link.choosePHYs(command.preferred) }
    },
    .ofLink(LEReadPHY.self, .version5) { response, link, _ in response.phys = link.phys },
    .complete(LESetDataLength.self) { controller, command in
      guard (27...251).contains(command.transmit.octets), (328...17040).contains(command.transmit.time) else {
        return .failure(.invalidCommandParameters)
      }
      let status = controller.check(command.handle)
      guard status == .success else { return .failure(status) }
      controller.afterExchange(2, on: command.handle) { _, link, _ in
        link.changeDataLength(command.transmit.octets)
      }
      return .success(.init(handle: command.handle))
    },
    .ofLink(ReadRSSI.self) { response, _, peer in response.rssi = peer.rssi },
  ]

  /// Checks that a command may name this link.
  func check(_ handle: ConnectionHandle) -> HCIErrorCode {
    link(handle) == nil ? .unknownConnectionIdentifier : .success
  }

  /// Runs an action that needs both ends: see ``SimulatedLink/afterExchange(_:_:)``.
  func afterExchange(
    _ events: Int64, on handle: ConnectionHandle,
    _ action: @escaping (VirtualController, SimulatedLink, any SimulatedDevice) -> Void
  ) {
    link(handle)?.afterExchange(events) { [weak self] link in
      guard let self, let peer = peer(handle) else { return }
      action(self, link, peer)
    }
  }

  /// The peripheral asks for other parameters. A host that does not want to be asked has them accepted.
  private func parametersRequested(_ parameters: ConnectionParameters, on link: SimulatedLink) {
    guard let handle = handle(of: link) else { return }
    let event = HCIEvent.leRemoteConnectionParameterRequest(
      LERemoteConnectionParameterRequest {
        $0.handle = handle
        $0.intervalMin = parameters.intervalMin
        $0.intervalMax = parameters.intervalMax
        $0.latency = parameters.latency
        $0.supervisionTimeout = parameters.supervisionTimeout
      })
    guard isUnmasked(event) else { return link.update(parameters) }
    link.hasParameterRequest = true
    send(event)
  }

  private func parametersRefused(on link: SimulatedLink) {
    guard let handle = handle(of: link) else { return }
    send(
      .leConnectionUpdateComplete(
        LEConnectionUpdateComplete {
          $0.status = .unacceptableConnectionParameters
          $0.handle = handle
          $0.parameters = link.parameters
        }))
  }

  /// The encryption of links (Core Specification Vol 6, Part B, 5.1.3).
  static let encryptionCommands: [VirtualCommand] = [
    .begin(LEEnableEncryption.self) { controller, command in
      guard let link = controller.link(command.handle) else { return .unknownConnectionIdentifier }
      return link.central === controller ? .success : .commandDisallowed
    } then: { controller, command in
      controller.afterExchange(2, on: command.handle) { _, link, _ in
        link.encrypt(with: command.longTermKey, command.random, command.encryptedDiversifier)
      }
    },
    .complete(LELongTermKeyRequestReply.self) { controller, command in
      guard let link = controller.link(command.handle), let reply = link.keyReply.take() else {
        return .failure(.commandDisallowed)
      }
      reply(command.longTermKey)
      return .success(.init(handle: command.handle))
    },
    .complete(LELongTermKeyRequestNegativeReply.self) { controller, command in
      guard let link = controller.link(command.handle), let reply = link.keyReply.take() else {
        return .failure(.commandDisallowed)
      }
      reply(nil)
      return .success(.init(handle: command.handle))
    },
  ]

  /// How long a link layer waits for an answer of the other one (Vol 6, Part B, 5.2).
  private static let responseTimeout = Duration.seconds(40)

  /// Asks the host of the peripheral for the key. A host that does not answer, or that masks the event, loses the link.
  package func keyRequested(
    _ random: UInt64, _ diversifier: UInt16, on link: SimulatedLink, reply: @escaping ([UInt8]?) -> Void
  ) {
    guard let handle = handle(of: link) else { return }
    link.keyReply = reply
    link.after(Self.responseTimeout) { link in
      if link.keyReply != nil { link.end(.responseTimeout, .responseTimeout) }
    }
    send(
      .leLongTermKeyRequest(
        LELongTermKeyRequest {
          $0.handle = handle
          $0.random = random
          $0.encryptedDiversifier = diversifier
        }))
  }

  /// The peripheral has no key.
  func encryptionRefused(on link: SimulatedLink) {
    guard let handle = handle(of: link) else { return }
    send(
      .encryptionChange(
        EncryptionChange {
          $0.status = .pinOrKeyMissing
          $0.handle = handle
        }))
  }
}
