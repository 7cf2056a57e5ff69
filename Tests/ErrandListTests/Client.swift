import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import TestLoop
import HaloSimulation

/// A client of what the errands offer: as those of bumble_clients.py, on a radio of this package.
@BluetoothActor
final class Client {
  enum Kind: String {
    /// It reads the value, writes it, and leaves.
    case reader
    /// It advertises, and does so on the link that the server makes, but waits until its own battery was read, and stays.
    case called
    /// It subscribes to notifications.
    case listener
    /// It subscribes to indications, and confirms none.
    case silent
    /// It reads the value until its own battery was read, five times more, and leaves.
    case phone
  }

  static let written = [UInt8](Lamp.long.reversed())

  let name: String
  private let kind: Kind
  private let journal: Journal
  private let timers = testTimers
  private let adapter: HCIAdapter
  private let database = AttributeDatabase()
  private var link: GATTLink?
  private var isAsked = false

  init(_ medium: RadioMedium, _ journal: Journal, _ number: Int, _ kind: Kind) {
    (name, self.kind, self.journal) = ("\(kind) \(number)", kind, journal)
    let address = BluetoothAddress(0xF0F1_F2F3_F400 + UInt64(number), .random)
    var options = ControllerOptions()
    options.address = address
    let transport = ToldTransport(
      SimulatedTransport(medium, options), Journal(), confirmsNothing: kind == .silent)
    adapter = HCIAdapter(transport, randomAddress: address, prefersRandomAddress: true)
    database.addService(0x180F)
    database.addCharacteristic(
      0x2A19, .read,
      read: { [weak self] _, reply in
        self?.isAsked = true
        journal.note("asked", by: self?.name)
        reply(.success([0x32]))
      })
  }

  private func note(_ text: String) { journal.note(text, by: name) }

  /// Meets the server, and does what its kind does.
  func meet(_ server: BluetoothAddress) async throws {
    _ = try await adapter.start()
    let link = try await kind == .called ? called() : connected(to: server)
    self.link = link
    note("connected")
    link.whenDisconnected { [weak self] loss in
      self?.note(loss == .local ? "disconnected 16" : "disconnected by the server")
    }
    try await link.gatt.exchangeMTU()
    for service in try await link.gatt.discoverServices([0xB000]) {
      for value in try await link.gatt.discoverCharacteristics(of: service) { try await use(value, of: link) }
    }
  }

  private func connected(to server: BluetoothAddress) async throws -> GATTLink {
    try await awaitCallback(cancelled: StackError.cancelled) { done in
      _ = adapter.connect(ConnectionRequest(peer: server)) { [self] result in done(result.map { accept($0) })
      }
    }
  }

  /// It advertises, and the server connects.
  private func called() async throws -> GATTLink {
    let advertising = try Advertising(AdvertisingData([.flags([.generalDiscoverable, .brEDRNotSupported])]))
    return try await awaitCallback(cancelled: StackError.cancelled) { done in
      adapter.onAccepted = { [self] in done(.success(accept($0))) }
      // An adapter that advertises for programs throws nothing.
      try? adapter.setAdvertising(advertising, in: AdvertisingSet())
    }
  }

  private func accept(_ link: any ATTLink) -> GATTLink {
    let link = GATTLink(link, timers: timers)
    link.serve(database)
    return link
  }

  private func use(_ value: Characteristic, of link: GATTLink) async throws {
    switch kind {
    case .reader:
      note("read " + hex(try await link.gatt.read(value)))
      try await link.gatt.write(Self.written, to: value)
      await link.disconnect()
    case .called:
      note("read " + hex(try await link.gatt.read(value)))
      while !isAsked { await timers.sleep(for: .milliseconds(10)) }
      try await link.gatt.write(Self.written, to: value)
    case .listener:
      _ = try await link.gatt.subscribe(to: value) { [weak self] bytes, _ in
        self?.note("value " + hex(Array(bytes)))
      }
    case .silent: _ = try await link.gatt.subscribe(to: value, as: .indication) { _, _ in }
    case .phone:
      var more = 5
      while more > 0 {
        note("read " + hex(try await link.gatt.read(value)))
        if isAsked { more -= 1 }
        await timers.sleep(for: .milliseconds(20))
      }
      await link.disconnect()
    }
  }
}
