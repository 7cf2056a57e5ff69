import CoreBluetooth

// Commands that block a queue until their answer, in the style of the pumps and sensors of LoopKit.

enum CommandError: LocalizedError {
  case notReady
  case timeout
  case unknownCharacteristic
  case peripheralError(Error)

  var errorDescription: String? {
    switch self {
    case .notReady: return "not ready"
    case .timeout: return "timeout"
    case .unknownCharacteristic: return "unknown characteristic"
    case .peripheralError(let error): return error.localizedDescription
    }
  }
}

extension Collection where Element: CBAttribute {
  func item(with uuid: CBUUID) -> Element? { first { $0.uuid == uuid } }
}

extension CBPeripheral {
  func servicesToDiscover(from uuids: [CBUUID]) -> [CBUUID] {
    let known = services?.map { $0.uuid } ?? []
    return uuids.filter { !known.contains($0) }
  }
}

final class CommandManager: NSObject, CBPeripheralDelegate, @unchecked Sendable {
  struct Configuration {
    var serviceCharacteristics: [CBUUID: [CBUUID]] = [:]
    var valueUpdates: [CBUUID: (CommandManager) -> Void] = [:]
  }

  private enum Condition {
    case discoverServices
    case discoverCharacteristics(CBUUID)
    case notificationState(CBCharacteristic, enabled: Bool)
    case valueUpdate(CBCharacteristic, matching: ((Data?) -> Bool)?)
    case write(CBCharacteristic)
  }

  private let peripheral: CBPeripheral
  private let configuration: Configuration
  private let queue = DispatchQueue(label: "commands", qos: .unspecified)
  private let lock = NSCondition()
  private var conditions: [Condition] = []
  private var failure: Error?

  init(_ peripheral: CBPeripheral, _ configuration: Configuration) {
    self.peripheral = peripheral
    self.configuration = configuration
    super.init()
    peripheral.delegate = self
  }

  private func run(timeout: TimeInterval, _ condition: Condition, _ command: () -> Void) throws {
    dispatchPrecondition(condition: .onQueue(queue))
    guard peripheral.state == .connected else { throw CommandError.notReady }
    lock.lock()
    defer {
      conditions = []
      failure = nil
      lock.unlock()
    }
    conditions = [condition]
    command()
    guard lock.wait(until: Date(timeIntervalSinceNow: timeout)) else { throw CommandError.timeout }
    if let failure { throw CommandError.peripheralError(failure) }
  }

  func write(_ value: Data, for uuid: CBUUID, of service: CBUUID, timeout: TimeInterval) throws {
    guard let characteristic = peripheral.services?.item(with: service)?.characteristics?.item(with: uuid)
    else {
      throw CommandError.unknownCharacteristic
    }
    let type: CBCharacteristicWriteType =
      characteristic.properties.contains(.write) ? .withResponse : .withoutResponse
    guard type == .withResponse else { return peripheral.writeValue(value, for: characteristic, type: type) }
    try run(timeout: timeout, .write(characteristic)) {
      peripheral.writeValue(value, for: characteristic, type: type)
    }
  }

  func apply(_ done: @escaping @Sendable (Result<Void, Error>) -> Void) {
    queue.async { [self] in
      done(
        Result {
          let services = peripheral.servicesToDiscover(from: Array(configuration.serviceCharacteristics.keys))
          try run(timeout: 5, .discoverServices) { peripheral.discoverServices(services) }
        })
    }
  }

  private func signal(_ error: Error?, _ isMet: (Condition) -> Bool) {
    lock.lock()
    defer { lock.unlock() }
    guard conditions.contains(where: isMet) else { return }
    failure = error
    lock.broadcast()
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    signal(error) { if case .discoverServices = $0 { return true } else { return false } }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?
  ) {
    signal(error) {
      if case .discoverCharacteristics(service.uuid) = $0 { return true } else { return false }
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: Error?
  ) { signal(error) { if case .write(characteristic) = $0 { return true } else { return false } } }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
  ) {
    signal(error) {
      if case .notificationState(characteristic, characteristic.isNotifying) = $0 { return true }
      return false
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?
  ) {
    configuration.valueUpdates[characteristic.uuid]?(self)
    signal(error) {
      guard case .valueUpdate(characteristic, let matching) = $0 else { return false }
      return matching?(characteristic.value) ?? true
    }
  }
}
