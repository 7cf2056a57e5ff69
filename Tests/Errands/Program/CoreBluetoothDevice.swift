import CoreBluetooth
import ErrandList
import HaloRaw

/// A peripheral: one request at a time, each of which waits for the call of the delegate that answers it.
final class CoreBluetoothDevice: NSObject {
  private let peripheral: CBPeripheral
  private weak var central: CBCentralManager?
  private let isKept: Bool
  private let links = Calls<Void>()
  private let ends = Calls<Void>()
  private let answers = Calls<Answer>()
  private let values = Calls<[UInt8]>()
  /// Services that are no more. The peripheral has them until they are discovered again.
  private var invalidated: [CBService] = []

  /// A call that answers a request.
  private enum Answer: Equatable {
    case services
    case characteristics
    case value(String, [UInt8])
    case written
    case notifying
    case isReady
  }

  init(_ peripheral: CBPeripheral, _ central: CBCentralManager, isKept: Bool) {
    (self.peripheral, self.central, self.isKept) = (peripheral, central, isKept)
    super.init()
    peripheral.delegate = self
  }

  // MARK: The link

  func connect() async throws {
    for calls in [links, ends] { calls.clear() }
    answers.clear()
    values.clear()
    central?.connect(peripheral)
    do {
      try await links.next()
    } catch {
      // An attempt goes on for as long as it is not cancelled.
      await disconnect()
      throw error
    }
  }

  func connected() { links.send(()) }

  func disconnected(_ error: (any Error)?) {
    let reason = error.map { DoorError($0) } ?? .linkLost
    links.fail(reason)
    answers.fail(reason)
    values.fail(reason)
    ends.send(())
  }

  func disconnect() async {
    guard peripheral.state != .disconnected else { return }
    ends.clear()
    central?.cancelPeripheralConnection(peripheral)
    // In a task of its own, which is not cancelled.
    await Task { try? await ends.next() }.value
  }

  // MARK: Requests

  /// Asks for something, and waits for the answer. A request that is cancelled ends the link, as nothing else ends it.
  private func answer(_ isWanted: (Answer) -> Bool, to ask: () -> Void) async throws -> Answer {
    guard peripheral.state == .connected else { throw DoorError.linkLost }
    answers.clear()
    ask()
    do {
      while true {
        let answer = try await answers.next()
        if isWanted(answer) { return answer }
      }
    } catch DoorError.cancelled {
      await disconnect()
      throw DoorError.cancelled
    }
  }

  private func known(_ value: RemoteValue) -> CBCharacteristic? {
    peripheral.services?.lazy
      .filter { service in !self.invalidated.contains { $0 === service } }
      .filter { $0.uuid == CBUUID(string: value.service) }
      .compactMap(\.characteristics).joined().first { $0.uuid == CBUUID(string: value.rawValue) }
  }

  private func characteristic(_ value: RemoteValue) async throws -> CBCharacteristic {
    if let known = known(value) { return known }
    let uuid = CBUUID(string: value.service)
    _ = try await answer({ $0 == .services }) { peripheral.discoverServices([uuid]) }
    let services = peripheral.services ?? []
    guard let service = services.first(where: { $0.uuid == uuid }) else { throw DoorError.notFound }
    invalidated.removeAll { $0 === service }
    _ = try await answer({ $0 == .characteristics }) {
      peripheral.discoverCharacteristics([CBUUID(string: value.rawValue)], for: service)
    }
    if let known = known(value) { return known }
    throw invalidated.contains { $0 === service } ? DoorError.invalidHandle : .notFound
  }

  /// Does something with a characteristic, and again if its services have changed meanwhile.
  private func perform<Result>(
    _ value: RemoteValue, _ work: (CBCharacteristic) async throws -> Result
  ) async throws -> Result {
    for _ in 0..<4 {
      do {
        return try await work(try await characteristic(value))
      } catch DoorError.invalidHandle {
        // The delegate is told of the services that have changed, too.
        if let service = known(value)?.service { invalidated.append(service) }
      }
    }
    throw DoorError.invalidHandle
  }

  func read(_ value: RemoteValue) async throws -> [UInt8] {
    try await perform(value) { characteristic in
      let answer = try await answer({ if case .value(value.rawValue, _) = $0 { true } else { false } }) {
        peripheral.readValue(for: characteristic)
      }
      guard case .value(_, let bytes) = answer else { return [] }
      return bytes
    }
  }

  func write(_ bytes: [UInt8], to value: RemoteValue) async throws {
    try await perform(value) { characteristic in
      _ = try await answer({ $0 == .written }) {
        peripheral.writeValue(Data(bytes), for: characteristic, type: .withResponse)
      }
    }
  }

  func writeWithoutResponse(_ bytes: [UInt8], to value: RemoteValue) async throws {
    let characteristic = try await characteristic(value)
    if !peripheral.canSendWriteWithoutResponse { _ = try await answer({ $0 == .isReady }) {} }
    peripheral.writeValue(Data(bytes), for: characteristic, type: .withoutResponse)
  }

  func subscribe(to value: RemoteValue, _ take: @BluetoothActor ([UInt8]) -> Bool) async throws {
    while true {
      do {
        return try await subscribeOnThisLink(to: value, take)
      } catch DoorError.linkLost where isKept {
        try await connect()
      }
    }
  }

  private func subscribeOnThisLink(to value: RemoteValue, _ take: @BluetoothActor ([UInt8]) -> Bool)
    async throws
  {
    let characteristic = try await characteristic(value)
    values.clear()
    _ = try await answer({ $0 == .notifying }) { peripheral.setNotifyValue(true, for: characteristic) }
    do {
      repeat {} while await take(try await values.next())
    } catch DoorError.cancelled {
      peripheral.setNotifyValue(false, for: characteristic)
      throw DoorError.cancelled
    }
    _ = try await answer({ $0 == .notifying }) { peripheral.setNotifyValue(false, for: characteristic) }
  }
}

/// A conformance of its own: what is declared with the protocol would be isolated as that is.
extension CoreBluetoothDevice: Device {}

extension CoreBluetoothDevice: @preconcurrency CBPeripheralDelegate {
  private func send(_ answer: Answer, _ error: (any Error)?) {
    if let error { answers.fail(DoorError(error)) } else { answers.send(answer) }
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    send(.services, error)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) { send(.characteristics, error) }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    let bytes = [UInt8](characteristic.value ?? Data())
    if characteristic.isNotifying { return values.send(bytes) }
    send(.value(characteristic.uuid.uuidString, bytes), error)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) { send(.written, error) }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
    error: (any Error)?
  ) { send(.notifying, error) }

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { send(.isReady, nil) }

  func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
    invalidated += invalidatedServices
  }
}

extension DoorError {
  init(_ error: any Error) {
    switch error {
    case CBError.connectionTimeout: self = .timedOut
    case CBError.peripheralDisconnected, CBError.notConnected: self = .linkLost
    case CBError.invalidHandle, CBATTError.invalidHandle: self = .invalidHandle
    case CBError.operationCancelled: self = .cancelled
    case is CBATTError: self.init(word: "refused")
    default: self.init(word: "\(error)")
    }
  }
}
