import HCI
import HaloBluetoothCore
import HaloLinuxBluetooth
import HaloSimulation

/// A program that scans on an adapter of the kernel, which other programs and the kernel use, too: they end scans, begin others
/// that filter, and create links. What is wanted is on again within 100 ms, or when the link is there or not.
@BluetoothActor
final class SharedScan {
  enum Wrong: Error {
    /// The controller does not scan.
    case deaf(after: Action)
  }

  /// What another program does.
  enum Action: Int, CaseIterable {
    case endsScan, discovers, discoversActively, connects
  }

  private let timers: Timers
  private let seed: UInt64
  private var randomNumbers: UInt64 = 0
  private let medium: RadioMedium
  private var controller: VirtualController?
  private var program: RawController?
  /// The kernel sends one command after the other, and shows those of others when it sends them.
  private var queue: [(packet: [UInt8], isForeign: Bool)] = []
  private var isBusy = false

  private(set) var actions = 0

  init(_ timers: Timers, seed: UInt64) {
    self.timers = timers
    self.seed = seed
    medium = RadioMedium(timers: timers)
    var options = ControllerOptions()
    options.bluetooth5 = false
    let controller = VirtualController(options, in: medium) { [unowned self] packet in receive(Array(packet))
    }
    self.controller = controller
    program = RawController(timers: timers) { [unowned self] packet in
      enqueue(Array(packet), isForeign: false)
    }
  }

  func run(days: Int) async throws {
    program?.initialize { _ in }
    var mask = SetEventMask()
    mask.mask = [.leMeta, .disconnectionComplete]
    foreign(mask)
    program?.setScan(.gentle)
    let end = timers.now + .seconds(days * 86_400)
    while timers.now < end {
      await timers.sleep(for: .seconds(1 + Int(random() % 300)))
      let action = Action(rawValue: Int(random() % UInt64(Action.allCases.count))) ?? .endsScan
      await perform(action)
      actions += 1
      await timers.sleep(for: .milliseconds(100))
      guard controller?.isScanning == true else { throw Wrong.deaf(after: action) }
    }
    program?.fail(.cancelled)
  }

  private func perform(_ action: Action) async {
    var off = LESetScanEnable()
    off.isEnabled = false
    foreign(off)
    switch action {
    case .endsScan: break
    case .discovers, .discoversActively:
      var parameters = LESetScanParameters()
      parameters.scan = PHYScanParameters(
        type: action == .discovers ? .passive : .active, interval: ScanInterval(.milliseconds(60)),
        window: ScanInterval(.milliseconds(30)))
      parameters.filterPolicy = random() % 2 == 0 ? .filterAcceptList : .acceptAll
      foreign(parameters)
      var on = LESetScanEnable()
      on.isEnabled = true
      on.filtersDuplicates = random() % 2 == 0
      foreign(on)
      await timers.sleep(for: .milliseconds(Int(random() % 10_000)))
      foreign(off)
    case .connects:
      var creation = LECreateConnection()
      creation.peerAddress = BluetoothAddress(0xC0DE, .public)
      creation.parameters = .fast
      foreign(creation)
      // A creation that has not begun can't be cancelled.
      await timers.sleep(for: .milliseconds(1 + Int(random() % 8000)))
      foreign(LECreateConnectionCancel())
    }
  }

  // MARK: The kernel

  private func foreign(_ command: some HCICommand) {
    var writer = ByteWriter(capacity: 64)
    command.packet(into: &writer)
    enqueue(writer.bytes, isForeign: true)
  }

  private func enqueue(_ packet: [UInt8], isForeign: Bool) {
    queue.append((packet, isForeign))
    sendNext()
  }

  private func sendNext() {
    guard !isBusy, !queue.isEmpty else { return }
    let (packet, isForeign) = queue.removeFirst()
    isBusy = true
    if isForeign { program?.receive(packet.span.bytes, at: timers.now) }
    controller?.receive(packet.span.bytes)
  }

  private func receive(_ packet: [UInt8]) {
    program?.receive(packet.span.bytes, at: timers.now)
    // Command Complete and Command Status.
    guard packet.count > 1, packet[1] == 0x0E || packet[1] == 0x0F else { return }
    isBusy = false
    sendNext()
  }

  /// The same numbers in each run.
  private func random() -> UInt64 {
    randomNumbers += 1
    return SplitMix.mix(seed &+ SplitMix.mix(randomNumbers))
  }
}
