import Foundation

/// A call of a peripheral manager's delegate.
enum PeripheralDelivery {
  case added(CBMutableService, CBError?)
  case started(CBError?)
  case subscribed(CBCentral, CBMutableCharacteristic)
  /// The service may have been removed, without any other owner.
  case unsubscribed(CBCentral, CBMutableCharacteristic, of: CBMutableService?)
  case read(CBATTRequest)
  case wrote([CBATTRequest])
  case ready

  /// Changes the properties of objects, and then calls the delegate. A request that the delegate does not answer is refused.
  func call(_ delegate: (any CBPeripheralManagerDelegate)?, of manager: CBPeripheralManager) {
    switch self {
    case .added(let service, let error): delegate?.peripheralManager(manager, didAdd: service, error: error)
    case .started(let error): delegate?.peripheralManagerDidStartAdvertising(manager, error: error)
    case .subscribed(let central, let characteristic):
      characteristic.subscribedCentrals?.append(central)
      delegate?.peripheralManager(manager, central: central, didSubscribeTo: characteristic)
    case .unsubscribed(let central, let characteristic, let service):
      characteristic.subscribedCentrals?.removeAll { $0 === central }
      withExtendedLifetime(service) {
        delegate?.peripheralManager(manager, central: central, didUnsubscribeFrom: characteristic)
      }
    case .read(let request):
      guard let delegate else { return manager.respond(to: request, withResult: .requestNotSupported) }
      delegate.peripheralManager(manager, didReceiveRead: request)
    case .wrote(let requests):
      guard let delegate else {
        for request in requests.prefix(1) { manager.respond(to: request, withResult: .requestNotSupported) }
        return
      }
      delegate.peripheralManager(manager, didReceiveWrite: requests)
    case .ready: delegate?.peripheralManagerIsReady(toUpdateSubscribers: manager)
    }
  }
}
