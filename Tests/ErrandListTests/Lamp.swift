import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import TestLoop
import HaloSimulation

/// A device for the errands: what bumble_errands.py has, on a radio of this package.
///
/// | service | value | what it is |
/// | --- | --- | --- |
/// | 180F | 2A19 | the battery |
/// | A000 | A001 | 300 bytes, which can be written |
/// | A000 | A002 | takes commands and writes |
/// | A000 | A003 | sends values of each of its lengths to each that subscribes |
/// | A000 | A004 | sends the number of the link and a count while somebody has subscribed |
/// | A100 | A101 | how often this service has got other handles |
@BluetoothActor
final class Lamp {
  nonisolated static let long = (0..<300).map { UInt8($0 % 251) }
  private static let lengths = [1, 20, 100, 244]
  /// A value of the last length just fits.
  private static let largestMTU = 247
  private static let countTime = Duration.milliseconds(50)
  private static let linkTime = Duration.seconds(1)

  let habit: Habit
  /// Whether the old value can still be read at handles that A100 had before; else they are invalid.
  private let keepsPast: Bool
  let database = AttributeDatabase()
  /// How often A100 has got other handles.
  private(set) var generation: UInt8 = 0
  /// What is read at its earlier handles.
  private(set) var past: [AttributeHandle: [UInt8]] = [:]
  private(set) var changing: (service: AttributeHandle, value: AttributeHandle) = (0, 0)
  private(set) var types: [AttributeHandle: String] = [:]
  private(set) var linkCount: UInt8 = 0

  private let name: String
  private let journal: Journal
  private let adapter: HCIAdapter
  private let advertising: Advertising
  private let set = AdvertisingSet()
  private let timers = testTimers
  private let lengthsHandle: AttributeHandle
  private let countHandle: AttributeHandle
  /// The servers whose clients are sent a count.
  private var counting: Set<ObjectIdentifier> = []

  init(
    _ medium: RadioMedium, _ journal: Journal, _ name: String, _ address: BluetoothAddress,
    _ advertised: BluetoothUUID,
    _ habit: Habit = .none, keepsPast: Bool = true
  ) throws {
    (self.name, self.journal, self.habit, self.keepsPast) = (name, journal, habit, keepsPast)
    var options = ControllerOptions()
    options.seed = address.value
    options.address = address
    adapter = HCIAdapter(
      SimulatedTransport(medium, options), randomAddress: address, prefersRandomAddress: true)
    advertising = try Advertising(Self.data(name, advertised)).every(.milliseconds(50))
    database.addGenericAccess(name: name)
    database.addGenericAttribute()
    database.addService(0x180F)
    database.addCharacteristic(0x2A19, .read, value: [0x64])
    database.addService(0xA000)
    database.addCharacteristic(0xA001, [.read, .write], value: Self.long)
    database.addCharacteristic(0xA002, [.write, .writeWithoutResponse])
    lengthsHandle = database.addCharacteristic(0xA003, .notify)
    countHandle = database.addCharacteristic(0xA004, .notify)
    addChanging()
    adapter.onAccepted = { [weak self] link in self?.accept(link) }
  }

  /// Advertises, from now on.
  func start() async throws {
    _ = try await adapter.start()
    try adapter.setAdvertising(advertising, in: set)
  }

  static func data(_ name: String, _ advertised: BluetoothUUID) -> AdvertisingData {
    AdvertisingData([
      .flags([.generalDiscoverable, .brEDRNotSupported]),
      .serviceUUIDs([advertised], width: .two, isComplete: true),
      .localName(Array(name.utf8), isComplete: true),
    ])
  }

  // MARK: Links

  private func accept(_ link: any ATTLink) {
    linkCount += 1
    journal.note("connected", by: name)
    // An adapter that advertises for programs throws nothing.
    try? adapter.setAdvertising(nil, in: set)
    let bearer = ATTBearer(timers: timers, receiveMTU: Self.largestMTU) { link.send($0) }
    let server = ServerBearer(database, on: bearer, timers: timers) { link.hasRoom }
    bearer.onTimeout = { _ in link.disconnect() }
    link.onRoom = { server.roomAvailable() }
    link.onPDU = { [weak self] pdu, arrival in self?.receive(Array(pdu), arrival, on: link, bearer) }
    link.onClosed = { [weak self] loss in
      bearer.close("\(loss)")
      self?.ended(loss)
    }
    server.onEvent = { [weak self, unowned server] event in self?.happened(event, server) }
    if habit == .leaves || habit == .leavesForGood {
      timers.schedule(after: Self.linkTime) { link.disconnect() }
    }
  }

  private func ended(_ loss: LinkLoss) {
    let reason =
      switch loss {
      case .remote(let code): code
      default: HCIErrorCode.connectionTerminatedByLocalHost
      }
    journal.note("disconnected " + String(reason.rawValue, radix: 16), by: name)
    if habit != .leavesForGood { try? adapter.setAdvertising(advertising, in: set) }
  }

  private func receive(_ pdu: [UInt8], _ arrival: Arrival, on link: any ATTLink, _ bearer: ATTBearer) {
    let isUnanswered = isUnanswered(pdu)
    journal.note(text(of: pdu), by: name, isUnanswered: isUnanswered)
    if isUnanswered { return }
    if let answer = answerOfThePast(to: pdu) {
      exchange()
      return link.send(answer.span.bytes)
    }
    if keepsPast, let value = valueOfThePast(for: pdu) { return link.send(([0x0B] + value).span.bytes) }
    if habit == .leavesAtARead, linkCount == 1, reads(pdu, "2A19") { return link.disconnect() }
    bearer.receive(pdu.span.bytes, at: arrival)
    if habit == .changesLater || habit == .changesTwice, generation == 0, reads(pdu, "A101") { exchange() }
  }

  // MARK: Values

  private func happened(_ event: ServerBearer.Event, _ server: ServerBearer) {
    switch event {
    case .configured(lengthsHandle, [.notify]): sendLengths(to: server)
    case .configured(countHandle, [.notify]):
      if counting.insert(ObjectIdentifier(server)).inserted { sendCount(0, to: server) }
    case .configured(_, [.indicate]): if habit == .changesAtOnce { exchange() }
    case .confirmed: if habit == .changesTwice, generation == 1 { exchange() }
    default: break
    }
  }

  private func sendLengths(to server: ServerBearer) {
    if habit == .hurries {
      server.notify([UInt8](Self.long.prefix(1)), of: lengthsHandle)
      return
    }
    for (number, length) in Self.lengths.enumerated() {
      let pause = habit == .pauses ? Self.countTime * (number + 1) : .zero
      timers.schedule(after: pause) { [lengthsHandle] in
        server.notify([UInt8](Self.long.prefix(length)), of: lengthsHandle)
      }
    }
  }

  private func sendCount(_ number: Int, to server: ServerBearer) {
    guard server.configuration(of: countHandle) == .notify else {
      counting.remove(ObjectIdentifier(server))
      return
    }
    server.notify([linkCount, UInt8(number >> 8), UInt8(number & 0xFF)], of: countHandle)
    timers.schedule(after: Self.countTime) { [weak self] in self?.sendCount(number + 1, to: server) }
  }

  // MARK: Changes

  private func addChanging() {
    changing.service = database.addService(0xA100)
    changing.value = database.addCharacteristic(0xA101, .read, value: [generation])
    types = namedTypes()
  }

  /// Moves A100 to other handles, and indicates that to clients.
  private func exchange() {
    past[changing.value] = [generation]
    generation += 1
    database.update { database in
      database.removeService(at: changing.service)
      addChanging()
    }
  }
}
