import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import HaloSimulation

/// A host with both roles on one bad radio: it keeps a link to a device with habits, and serves a phone that comes and goes.
/// Events are lost, the controller restarts without a word, refuses to create links while it advertises, and refuses commands
/// at random. Whatever happens, the rules of docs/links.md hold: what the host believes is so, or is noticed within half a
/// minute; what a device does not bear is not repeated, and no half table is a table.
@BluetoothActor
final class TwoRoles {
  enum Wrong: Error {
    /// It should be advertising, and is not: for how long.
    case offTheAir(Duration)
    /// It believes in links that the controller does not have: for how long.
    case deadLinks(Duration)
    /// A discovery that has succeeded has not found all services and characteristics.
    case halfTable(services: Int, characteristics: Int)
    /// What the device did not bear was repeated.
    case repeated(vainExchanges: Int, refusals: Int)
    /// A link that the device has left as it was not paired with has ended for another reason.
    case unnamedPairing(LinkLoss)
    /// Too few of these happened for the rules to mean something.
    case tooFew(meetings: Int, links: [PeerWithHabits.Habit: Int], tables: Int, restarts: Int)
  }

  /// The time until the controller is asked, until its answer, and until it advertises again; with a pause for an attempt to
  /// connect, of ten seconds. A link that has sent data just before its end is asked for the next time.
  private static let longestDeafness = Duration.seconds(72)
  /// A controller that fails again within a minute is recovered after that minute.
  private static let longestRecovery = Duration.seconds(130)

  /// The links that refused parameters may cost, before they are granted.
  private static let mostRefusals = 2

  private let timers: Timers
  private let medium: RadioMedium
  private let transport: SimulatedTransport
  private let adapter: HCIAdapter
  private let central: Central
  private let peripheral: Peripheral
  private let device: PeerWithHabits
  private let phoneTransport: SimulatedTransport
  private let phone: Central
  private let seed: UInt64
  private var randomNumbers: UInt64 = 0
  private var link: GATTLink?
  private var wrong: Wrong?
  /// Links that were given up as the device had not answered an exchange of the MTU.
  private var vainExchanges = 0
  private var lastRecovery = Instant.zero
  private var tasks: [Task<Void, Never>] = []

  private(set) var meetings = 0
  private(set) var tables = 0
  private(set) var links = 0
  private(set) var restarts = 0
  private(set) var recoveries = 0

  private static let ownAddress = BluetoothAddress(0x001A_7DDA_7101, .public)
  private static let deviceAddress = BluetoothAddress(0x001A_7DDA_7102, .public)
  private static let phoneAddress = BluetoothAddress(0x001A_7DDA_7103, .public)

  init(_ timers: Timers, seed: UInt64) async throws {
    self.timers = timers
    self.seed = seed
    medium = RadioMedium(timers: timers)
    var options = ControllerOptions()
    options.seed = seed
    options.faultSeed = seed
    options.bluetooth5 = seed % 2 == 0
    options.cannotInitiateWhileAdvertising = seed % 3 != 0
    options.refusesWithoutStates = seed % 3 == 1
    options.address = Self.ownAddress
    transport = SimulatedTransport(medium, options)
    adapter = HCIAdapter(transport)
    central = Central(adapter)
    peripheral = Peripheral(adapter, serving: AttributeDatabase())
    phoneTransport = SimulatedTransport(medium, Self.good(Self.phoneAddress))
    phone = Central(HCIAdapter(phoneTransport))
    device = PeerWithHabits(Self.deviceAddress, in: medium, seed: seed)
    try await phone.start()
  }

  private static func good(_ address: BluetoothAddress) -> ControllerOptions {
    var options = ControllerOptions()
    options.address = address
    return options
  }

  /// Runs for some days, and checks the rules each second.
  func run(days: Int) async throws {
    let advertising = try Advertising(AdvertisingData([.flags([.generalDiscoverable, .brEDRNotSupported])]))
    central.onFailure = { [unowned self] _ in recover() }
    while (try? await central.start()) == nil { await timers.sleep(for: .seconds(1)) }
    try peripheral.startAdvertising(advertising)
    tasks = [
      BluetoothActor.run { [unowned self] in await keepLink() },
      BluetoothActor.run { [unowned self] in await comeAndGo() },
      BluetoothActor.run { [unowned self] in await restartNowAndThen() },
    ]
    defer { for task in tasks { task.cancel() } }
    try await checkRules(until: timers.now + .seconds(days * 86_400))
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    await peripheral.stop()
    await phone.stop()
    await central.stop()
    guard meetings > days, tables > days, restarts > days,
      PeerWithHabits.Habit.allCases.allSatisfy({ device.links[$0, default: 0] > days })
    else {
      throw Wrong.tooFew(meetings: meetings, links: device.links, tables: tables, restarts: restarts)
    }
  }

  // MARK: The rules

  private func checkRules(until end: Instant) async throws {
    var (offSince, deadSince) = (Instant?.none, Instant?.none)
    while timers.now < end {
      await timers.sleep(for: .seconds(1))
      let now = timers.now
      let controller = transport.controller
      let limit = now - lastRecovery < Self.longestRecovery ? Self.longestRecovery : Self.longestDeafness
      let isOff = peripheral.connections.isEmpty && controller?.isAdvertising != true
      offSince = isOff ? offSince ?? now : nil
      if let offSince, now - offSince > limit { throw Wrong.offTheAir(now - offSince) }
      let believed = peripheral.connections + [link].compactMap(\.self).filter(\.isConnected)
      let isDead = believed.contains { controller?.isLinked(to: $0.peer) != true }
      deadSince = isDead ? deadSince ?? now : nil
      if let deadSince, now - deadSince > limit { throw Wrong.deadLinks(now - deadSince) }
      if let wrong { throw wrong }
      if vainExchanges > 1 || device.refusals > Self.mostRefusals {
        throw Wrong.repeated(vainExchanges: vainExchanges, refusals: device.refusals)
      }
    }
  }

  // MARK: What happens

  private func seconds(_ range: ClosedRange<Int>) -> Duration {
    .seconds(range.lowerBound + Int(random() % UInt64(range.count)))
  }

  /// The same numbers in each run.
  private func random() -> UInt64 {
    randomNumbers += 1
    return SplitMix.mix(seed &+ SplitMix.mix(randomNumbers))
  }

  private func recover() {
    recoveries += 1
    lastRecovery = timers.now
    tasks.append(
      BluetoothActor.run { [unowned self] in
        while !Task.isCancelled, (try? await central.recover(within: .seconds(60))) == nil {
          await timers.sleep(for: .seconds(1))
        }
        lastRecovery = timers.now
      })
  }

  /// Keeps a link to the device, as a command does.
  private func keepLink() async {
    while !Task.isCancelled {
      let request = ConnectionRequest(
        peer: Self.deviceAddress, parameterPolicy: .keep, deadline: .seconds(10))
      link = try? await central.connect(request)
      if let link {
        links += 1
        await use(link)
      }
      await timers.sleep(for: seconds(5...60))
    }
    await link?.disconnect()
  }

  private func use(_ link: GATTLink) async {
    let end = timers.schedule(after: seconds(60...7200)) { link.end() }
    await discover(link)
    guard let loss = try? await link.disconnection() else { return }
    timers.cancel(end)
    // A controller that fails meanwhile says nothing about the device.
    if device.wasAskedInVain, loss == .local || loss.isByPeer { vainExchanges += 1 }
    if device.habit == .wantsPairing, loss.isByPeer, loss != .pairingRefused { wrong = .unnamedPairing(loss) }
  }

  /// What is found is all that there is, or an error.
  private func discover(_ link: GATTLink) async {
    do {
      _ = try await link.gatt.exchangeMTU()
      let services = try await link.gatt.discoverServices()
      var characteristics = 0
      for service in services {
        characteristics += try await link.gatt.discoverCharacteristics(of: service).count
      }
      tables += 1
      if services.count != PeerWithHabits.serviceCount || characteristics != PeerWithHabits.valueCount {
        wrong = .halfTable(services: services.count, characteristics: characteristics)
      }
    } catch {
      // The link is lost, or will be.
    }
  }

  /// A phone that is near for minutes, and may leave without a word.
  private func comeAndGo() async {
    while !Task.isCancelled {
      await timers.sleep(for: seconds(60...3600))
      let request = ConnectionRequest(peer: Self.ownAddress, deadline: .seconds(120))
      guard let meeting = try? await phone.connect(request) else { continue }
      meetings += 1
      await timers.sleep(for: seconds(1...600))
      await meeting.disconnect()
    }
  }

  private func restartNowAndThen() async {
    while !Task.isCancelled {
      await timers.sleep(for: seconds(3600...21_600))
      transport.controller?.restart(isHinted: random() % 2 == 0)
      restarts += 1
    }
  }
}
