import CoreBluetooth
import HaloRaw
import HaloSystem
import Synchronization
import Testing

/// A delegate that writes down its calls, and runs what a test wants to happen in them.
final class Recorder: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
  private struct Shared {
    var log: [String] = []
    var waiting: [(text: String, count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var actions: [String: () -> Void] = [:]
  }

  /// Where the delegate is called.
  let queue = DispatchQueue(label: "CoreBluetoothTests")
  private let shared = LockedValue(Shared())
  /// Set by the test.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  nonisolated(unsafe) var central: CBCentralManager!
  nonisolated(unsafe) var peripherals: [String: CBPeripheral] = [:]
  /// The services that a peripheral has advertised, as it was found last.
  nonisolated(unsafe) var advertised: [String: [String]] = [:]
  /// The data of a company that it has advertised.
  nonisolated(unsafe) var companyData: [String: Data] = [:]

  /// The last error that a call had.
  nonisolated(unsafe) private(set) var lastError: (any Error)?

  var log: [String] { shared.withLock { $0.log } }

  /// Runs an action on the queue of the delegate.
  func perform(_ action: @escaping (Recorder) -> Void) async {
    let action = UncheckedSendable(action)
    await withCheckedContinuation { continuation in
      queue.async {
        action.value(self)
        continuation.resume()
      }
    }
  }

  /// Runs an action within the call that is written down as `text`.
  func on(_ text: String, _ action: @escaping (Recorder) -> Void) {
    shared.withLock { $0.actions[text] = { [unowned self] in action(self) } }
  }

  /// Waits until a text was written down. One that does not come ends the process, with what came instead.
  func until(_ text: String, count: Int = 1) async {
    let limit = Task.detached { [shared] in
      try await Task.sleep(for: .seconds(240))
      fatalError("no \"\(text)\" but \(shared.withLock { $0.log }.suffix(20))")
    }
    defer { limit.cancel() }
    await withCheckedContinuation { continuation in
      let isDone = shared.withLock { shared in
        if shared.log.count(where: { $0 == text }) >= count { return true }
        shared.waiting.append((text, count, continuation))
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  func note(_ text: String) {
    dispatchPrecondition(condition: .onQueue(queue))
    let (action, done) = shared.withLock { shared in
      shared.log.append(text)
      let done = shared.waiting.filter { wait in
        wait.text == text && shared.log.count(where: { $0 == text }) >= wait.count
      }
      shared.waiting.removeAll { wait in
        wait.text == text && shared.log.count(where: { $0 == text }) >= wait.count
      }
      return (shared.actions[text], done.map(\.continuation))
    }
    action?()
    for continuation in done { continuation.resume() }
  }

  private func describe(_ error: (any Error)?) -> String {
    if let error { lastError = error }
    return switch error {
    case nil: ""
    case let error as CBError: " \(error.code)"
    case let error as CBATTError: " \(error.code)"
    case let error?: " \(error)"
    }
  }

  /// The characteristic with a UUID, of the first peripheral that has it.
  func characteristic(_ uuid: String) -> CBCharacteristic {
    for peripheral in peripherals.values {
      for service in peripheral.services ?? [] {
        if let found = service.characteristics?.first(where: { $0.uuid == CBUUID(string: uuid) }) {
          return found
        }
      }
    }
    fatalError("no characteristic \(uuid)")
  }

  // MARK: CBCentralManagerDelegate

  func centralManagerDidUpdateState(_ central: CBCentralManager) { note("\(central.state)") }

  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    let restored = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
    for peripheral in restored {
      peripheral.delegate = self
      peripherals[peripheral.name ?? "?"] = peripheral
      note("restored \(peripheral.name ?? "?") \(peripheral.state)")
    }
    if let options = dict[CBCentralManagerRestoredStateScanOptionsKey] as? [String: Any] {
      let services = dict[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID]
      note("restored scan for \(services?.map(\.uuidString) ?? []), options \(options.keys.sorted())")
    }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    let name = peripheral.name ?? "?"
    peripheral.delegate = self
    peripherals[name] = peripheral
    let services = advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID]
    advertised[name] = services?.map(\.uuidString)
    companyData[name] = advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data
    note("found \(name)")
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    if peripheral.state != .connected { note("wrong state") }
    note("connected \(peripheral.name ?? "?")")
  }

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) { note("failed \(peripheral.name ?? "?")\(describe(error))") }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    if peripheral.services != nil { note("services remain") }
    note("disconnected \(peripheral.name ?? "?")\(describe(error)), \(peripheral.state)")
  }

  // MARK: CBPeripheralDelegate

  func peripheralDidUpdateName(_ peripheral: CBPeripheral) { note("name \(peripheral.name ?? "?")") }

  func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
    note("modified \(invalidatedServices.map(\.uuid.uuidString)), left \(peripheral.services?.count ?? -1)")
  }

  func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: (any Error)?) {
    note("rssi \(rssi)\(describe(error))")
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    let services = peripheral.services?.map(\.uuid.uuidString).joined(separator: ",")
    note("services \(services ?? "nil")\(describe(error))")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    let found = service.characteristics?.map(\.uuid.uuidString).joined(separator: ",")
    note("characteristics of \(service.uuid.uuidString): \(found ?? "nil")\(describe(error))")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic,
    error: (any Error)?
  ) {
    let found = characteristic.descriptors?.map(\.uuid.uuidString).joined(separator: ",")
    note("descriptors \(found ?? "nil")\(describe(error))")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    let value = characteristic.value.map { Array($0) } ?? []
    note("value \(characteristic.uuid.uuidString) \(value)\(describe(error))")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?
  ) { note("descriptor \(descriptor.uuid.uuidString) \(descriptor.value ?? "nil")\(describe(error))") }

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) { note("wrote \(characteristic.uuid.uuidString)\(describe(error))") }

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?
  ) { note("wrote descriptor\(describe(error))") }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
    error: (any Error)?
  ) { note("notifying \(characteristic.uuid.uuidString) \(characteristic.isNotifying)\(describe(error))") }

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { note("ready") }
}

private struct UncheckedSendable<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}
