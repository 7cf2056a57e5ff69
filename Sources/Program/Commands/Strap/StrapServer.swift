import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem

/// The side of a heart-rate strap that watches and phones see: Heart Rate, Battery and Device Information (Heart Rate Profile
/// 1.0, 3).
@BluetoothActor
final class StrapServer {
  /// The source of its measurements.
  var state = StrapState()
  /// The most devices that are connected at once.
  nonisolated static let maximumConnections = 4
  /// Called when a device requests the heart rate for the first time, and when none has requested it for a while.
  var onWanted: ((Bool) -> Void)?
  /// Whether a device requests the heart rate, or has done so a moment ago.
  private(set) var isWanted = false

  /// The time of its values.
  var now: Instant { timers.current }

  private let name: String
  private let timers: Timers
  private let database: AttributeDatabase
  private let peripheral: Peripheral
  private let measurement: AttributeHandle
  private let battery: AttributeHandle
  private let firmware: AttributeHandle
  /// The battery of the ring, in percent; nil until it is known.
  private let level: Level
  /// The next value to send.
  private var next: (time: Instant, timer: Timers.Token)?
  private var lingering: Timers.Token?

  private final class Level {
    var percent: UInt8?
  }

  private static let appearance: UInt16 = 0x0341  // Heart Rate Belt
  private static let heartRate = BluetoothUUID(0x180D as UInt16)
  private static let batteryService = BluetoothUUID(0x180F as UInt16)
  private static let location = BluetoothUUID(0x2A38 as UInt16)
  private static let finger: UInt8 = 3
  private static let period = Duration.seconds(1)
  /// How long a ring measures on without listeners: the warm-up of one that was stopped takes as long.
  private static let lingeringTime = Duration.seconds(30)

  /// - Parameters:
  ///   - adapter: the radio, which is started
  ///   - name: the name that other devices show: 29 bytes at most
  init(_ adapter: any Adapter, name: String) {
    self.name = name
    timers = adapter.timers
    let (level, table) = (Level(), AttributeDatabase())
    (self.level, database) = (level, table)
    table.addGenericAccess(
      name: name, appearance: Self.appearance,
      resolvesAddresses: adapter.security?.resolvesAddresses == true)
    table.addGenericAttribute(hash: LibcryptoCryptography.databaseHash)
    table.addService(Self.heartRate)
    measurement = table.addCharacteristic(CharacteristicID.heartRateMeasurement.uuid, .notify)
    table.addCharacteristic(Self.location, .read, value: [Self.finger])
    table.addService(Self.batteryService)
    battery = table.addCharacteristic(GATTUUID.batteryLevel, [.read, .notify]) { _, reply in
      // A number that is not known is none.
      reply(level.percent.map { .success([$0]) } ?? .failure(.unlikelyError))
    }
    table.addService(GATTUUID.deviceInformation)
    table.addCharacteristic(CharacteristicID.manufacturerName.uuid, .read, value: Array("halo-raw".utf8))
    firmware = table.addCharacteristic(CharacteristicID.firmwareRevision.uuid, .read)
    peripheral = Peripheral(adapter, serving: table, maximumConnections: Self.maximumConnections)
    peripheral.onConnection = { [weak self] link in self?.connected(link) }
  }

  // MARK: Beginning and end

  /// Keeps the devices that `--idle` and `--allow` allow.
  func admit(_ invocation: Invocation) { peripheral.admit(invocation, title: name) }

  /// Advertises. Watches filter by the service, so that is in the advertisement.
  ///
  /// - Parameter success: said when the adapter advertises
  func start(telling success: String) throws {
    let advertising = try Advertising.device(
      name: name, services: [Self.heartRate, Self.batteryService, GATTUUID.deviceInformation],
      appearance: Appearance(rawValue: Self.appearance)
    ).advertising
    peripheral.status.onChange = { [name] error in
      let refusal = error.map {
        "the adapter does not advertise: \($0); if that lasts, try another one, with --to"
      }
      Console.error("\(name): \(refusal ?? success)")
    }
    try peripheral.startAdvertising(advertising)
  }

  /// Ends the advertisement and all links, within a few seconds.
  func stop() async {
    onWanted = nil
    timers.cancel(lingering.take())
    timers.cancel(next.take()?.timer)
    await peripheral.stop()
  }

  // MARK: Values

  /// Sets the ring's battery level, in percent.
  func set(battery percent: UInt8) {
    guard percent != level.percent else { return }
    level.percent = percent
    push([percent], of: battery)
  }

  /// One that is longer than a value can be is left out.
  func set(firmware revision: String) { try? database.setValue(Array(revision.utf8), of: firmware) }

  /// Values that wait for room on a link give way to newer ones.
  private func push(_ value: [UInt8], of handle: AttributeHandle) {
    for connection in peripheral.connections {
      connection.server?.notify(value, of: handle, replacesWaiting: true)
    }
  }

  // MARK: Subscribers

  private func connected(_ link: GATTLink) {
    Console.error("\(name): connected by \(link.peer)")
    link.server?.onEvent = { [weak self] event in
      if case .configured = event { self?.subscriptionsChanged() }
    }
    link.reportRefusals(title: name)
    link.whenDisconnected { [name] loss in
      Console.error("\(name): the link to \(link.peer) has ended: \(loss)")
    }
  }

  private func subscriptionsChanged() {
    timers.cancel(lingering.take())
    let isWanted = peripheral.connections.contains {
      $0.server?.configuration(of: measurement).contains(.notify) == true
    }
    if isWanted {
      if next == nil { schedule(timers.current + Self.period) }
      want(true)
    } else {
      timers.cancel(next.take()?.timer)
      lingering = timers.schedule(after: Self.lingeringTime) { [weak self] in self?.want(false) }
    }
  }

  private func want(_ isWanted: Bool) {
    guard isWanted != self.isWanted else { return }
    self.isWanted = isWanted
    onWanted?(isWanted)
  }

  /// Times are counted from the first one, so that there is one value in each second.
  private func schedule(_ time: Instant) {
    let timer = timers.schedule(at: time) { [weak self] in
      guard let self else { return }
      push(state.measurement(at: timers.current).encoded, of: measurement)
      schedule(max(time + Self.period, timers.current))
    }
    next = (time, timer)
  }
}
