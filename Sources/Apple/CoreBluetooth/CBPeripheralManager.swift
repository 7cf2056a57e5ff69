import Foundation

/// The peripheral role. It is not supported yet: the state is always `unsupported`, and operations report an error.
open class CBPeripheralManager: CBManager {
  private let callbacks: CallbackQueue

  open weak var delegate: (any CBPeripheralManagerDelegate)?

  public convenience init() {
    self.init(delegate: nil, queue: nil, options: nil)
  }

  public init(
    delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
  ) {
    callbacks = CallbackQueue(queue)
    self.delegate = delegate
    super.init(.unsupported)
    callbacks.asyncConfined { [weak self] in
      guard let self else { return }
      self.delegate?.peripheralManagerDidUpdateState(self)
    }
  }

  open var isAdvertising: Bool { false }

  private var failure: CBError {
    CBError(.operationNotSupported, "the peripheral role is not supported on this system")
  }

  open func add(_ service: CBMutableService) {
    callbacks.asyncConfined { [self] in delegate?.peripheralManager(self, didAdd: service, error: failure) }
  }

  open func remove(_ service: CBMutableService) {}
  open func removeAllServices() {}

  open func startAdvertising(_ advertisementData: [String: Any]?) {
    callbacks.asyncConfined { [self] in delegate?.peripheralManagerDidStartAdvertising(self, error: failure) }
  }

  open func stopAdvertising() {}

  @discardableResult
  open func updateValue(
    _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
  ) -> Bool { false }

  open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {}

  open func setDesiredConnectionLatency(
    _ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral
  ) {}

  open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
    callbacks.asyncConfined { [self] in
      delegate?.peripheralManager(self, didPublishL2CAPChannel: 0, error: failure)
    }
  }

  open func unpublishL2CAPChannel(_ psm: CBL2CAPPSM) {
    callbacks.asyncConfined { [self] in
      delegate?.peripheralManager(self, didUnpublishL2CAPChannel: psm, error: failure)
    }
  }
}

/// A central that is connected to this machine.
open class CBCentral: CBPeer {
  open var maximumUpdateValueLength: Int { 20 }
}

/// A request of a central.
open class CBATTRequest: NSObject {
  open var central: CBCentral
  open var characteristic: CBCharacteristic
  open var offset: Int
  open var value: Data?

  init(central: CBCentral, characteristic: CBCharacteristic, offset: Int, value: Data?) {
    self.central = central
    self.characteristic = characteristic
    self.offset = offset
    self.value = value
    super.init()
  }
}

/// The events of the peripheral role. All methods but the first are optional.
public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)
  func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])
  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)
  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)
  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral,
    didSubscribeTo characteristic: CBCharacteristic)
  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral,
    didUnsubscribeFrom characteristic: CBCharacteristic)
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])
  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)
  func peripheralManager(
    _ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?)
  func peripheralManager(
    _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?)
  func peripheralManager(
    _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}

extension CBPeripheralManagerDelegate {
  public func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {}
  public func peripheralManagerDidStartAdvertising(
    _ peripheral: CBPeripheralManager, error: (any Error)?
  ) {}
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?
  ) {}
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {}
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral,
    didUnsubscribeFrom characteristic: CBCharacteristic
  ) {}
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest
  ) {}
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]
  ) {}
  public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {}
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
  ) {}
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
  ) {}
  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?
  ) {}
}
