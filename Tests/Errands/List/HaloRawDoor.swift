import HaloRaw

/// The library HaloRaw.
@BluetoothActor
package final class HaloRawDoor: Door {
  private let radio: Radio
  private let isOwner: Bool
  private let begin: Instant

  /// - Parameter isOwner: whether the radio is closed with this door
  package init(_ radio: Radio, isOwner: Bool) {
    (self.radio, self.isOwner) = (radio, isOwner)
    begin = radio.clock.now
  }

  /// - Parameter adapter: which adapter, as `halo-raw --adapter` takes it
  package static func open(_ adapter: String) async throws -> HaloRawDoor {
    try await translated { HaloRawDoor(try await Radio.open(RadioSelector(adapter)), isOwner: true) }
  }

  package func another() async throws -> any Door { HaloRawDoor(radio, isOwner: false) }

  package func close() async {
    if isOwner { try? await radio.close() }
  }

  package var time: Duration { radio.clock.now - begin }

  package func sleep(for duration: Duration) async throws { try await radio.clock.sleep(for: duration) }

  package func connect(to wanted: Wanted, within limit: Duration, isKept: Bool) async throws -> any Device {
    let selector: DeviceSelector =
      switch wanted {
      case .name(let name): .name(name)
      case .service(let uuid): .service(BluetoothUUID(stringLiteral: uuid))
      case .address(let text): .address(try address(text))
      }
    return HaloRawDevice(
      try await translated {
        try await radio.connect(to: selector, within: limit, reconnect: isKept ? .forever : .never)
      })
  }

  private func address(_ text: String) throws -> BluetoothAddress {
    guard let address = BluetoothAddress(text) else { throw DoorError.notFound }
    return address
  }

  package func scan(_ take: @BluetoothActor (String) -> Bool) async throws {
    try await translated {
      for try await advertisement in radio.advertisements() {
        if let name = advertisement.localName, !take(name) { return }
      }
      throw BluetoothError(.cancelled, "the iteration has ended")
    }
  }

  package func serve(_ events: any ServedEvents) async throws {
    try await translated {
      let value = LocalCharacteristic(
        CharacteristicID<[UInt8]>(
          BluetoothUUID(stringLiteral: ServedValue.uuid),
          in: BluetoothUUID(stringLiteral: ServedValue.service)),
        properties: [.read, .write, .notify, .indicate]
      ) { _ in
        ServedValue.first
      } write: { bytes, _ in
        events.written(bytes)
      }
      let service = LocalService(BluetoothUUID(stringLiteral: ServedValue.service), value)
      try await radio.serve([service], as: ServedValue.name, maximumConnections: 4) { server in
        events.began(HaloRawServed(value))
        let counts = started {
          for try await count in value.subscriberCounts { events.subscribed(count) }
        }
        defer { counts.cancel() }
        for try await client in server.connections { events.met(plain(client.peer)) }
        throw BluetoothError(.cancelled, "the iteration has ended")
      }
    }
  }

  /// An address without its type.
  private func plain(_ address: BluetoothAddress) -> String { String("\(address)".prefix(17)) }
}

private final class HaloRawServed: Served {
  private let value: LocalCharacteristic<[UInt8]>

  init(_ value: LocalCharacteristic<[UInt8]>) { self.value = value }

  func send(_ bytes: [UInt8]) async throws {
    try await translated { _ = try await value.notify(bytes) }
  }
}

private final class HaloRawDevice: Device {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  private func id(_ value: RemoteValue) -> CharacteristicID<[UInt8]> {
    CharacteristicID(
      BluetoothUUID(stringLiteral: value.rawValue), in: BluetoothUUID(stringLiteral: value.service))
  }

  func read(_ value: RemoteValue) async throws -> [UInt8] {
    try await translated { try await connection.read(id(value)) }
  }

  func write(_ bytes: [UInt8], to value: RemoteValue) async throws {
    try await translated { try await connection.write(bytes, to: id(value)) }
  }

  func writeWithoutResponse(_ bytes: [UInt8], to value: RemoteValue) async throws {
    try await translated { try await connection.writeWithoutResponse(bytes, to: id(value)) }
  }

  func subscribe(to value: RemoteValue, _ take: @BluetoothActor ([UInt8]) -> Bool) async throws {
    try await translated {
      for try await received in connection.values(of: id(value)) where !take(received.value) { return }
      throw BluetoothError(.cancelled, "the iteration has ended")
    }
  }

  func disconnect() async { await connection.disconnect() }
}

/// Runs a call of the library, and says in a word why it has failed.
private func translated<Result>(_ call: () async throws -> Result) async throws -> Result {
  do {
    return try await call()
  } catch let error as BluetoothError {
    if error.attCode != nil { throw DoorError(word: "refused") }
    throw DoorError(word: error.code == .closed ? "linkLost" : "\(error.code)")
  }
}
