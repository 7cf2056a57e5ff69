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
              .init(
                status: .success, handle: command.handle, version: CoreVersion(rawValue: 9),
                manufacturer: CompanyIdentifier(rawValue: 0x005D), subversion: 1)))
        }
      }
    case LEReadRemoteFeatures.opcode:
      begin(LEReadRemoteFeatures.self, &reader) {
        check($0.handle)
      } then: { controller, command in
        controller.afterExchange(2) {
          $0.send(
            .leReadRemoteFeaturesComplete(
              .init(
                status: .success, handle: command.handle,
                features: [.encryption, .dataPacketLengthExtension])))
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
        controller.afterExchange(6) { $0.choosePHY(tx: command.tx, rx: command.rx) }
      }
    case LEReadPHY.opcode:
      complete(LEReadPHY.self, &reader) { command in
        linked(command.handle).map { .init(handle: $0.handle, tx: $0.tx, rx: $0.rx) }
      }
    case LESetDataLength.opcode:
      complete(LESetDataLength.self, &reader) { command in
        guard (27...251).contains(command.txOctets), (328...17040).contains(command.txTime) else {
          return .failure(.invalidCommandParameters)
        }
        return linked(command.handle).map { link in
          afterExchange(2) { $0.changeDataLength(command.txOctets) }
          return link.handle
        }
      }
    case ReadRSSI.opcode:
      complete(ReadRSSI.self, &reader) { command in
        linked(command.handle).map { .init(handle: $0.handle, rssi: options.rssi) }
      }
    case LERemoteConnectionParameterRequestReply.opcode:
      // The ring asks by L2CAP, so that there is never such a request to answer.
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
        LEConnectionUpdateComplete(
          status: .success, handle: handle, interval: parameters.intervalMax, latency: parameters.latency,
          supervisionTimeout: parameters.supervisionTimeout)))
  }

  private func choosePHY(tx: LEPHYs?, rx: LEPHYs?) {
    guard var link else { return }
    func choose(_ wanted: LEPHYs?, _ current: LEPHY) -> LEPHY {
      guard let wanted else { return current }
      return wanted.contains(.le2M) ? .le2M : .le1M
    }
    link.tx = choose(tx, link.tx)
    link.rx = choose(rx, link.rx)
    self.link = link
    send(.lePHYUpdateComplete(.init(status: .success, handle: link.handle, tx: link.tx, rx: link.rx)))
  }
}
