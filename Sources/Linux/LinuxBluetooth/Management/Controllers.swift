import HCI
import HaloBluetoothCore
import HaloSystem

/// The kernel's state of an adapter.
package struct ControllerState: Hashable, Sendable {
  /// The condition of an adapter.
  package enum Condition: Hashable, Sendable {
    /// It is up, also while its user channel is open.
    case up
    case down
    /// The kernel is setting it up, which takes seconds with drivers that load firmware.
    case settingUp
    /// It did not answer when the kernel set it up. The kernel keeps it, and offers it to no program.
    case setUpFailed
    /// It has no address, and the kernel waits until a program gives it one.
    case unconfigured
  }

  package var index: AdapterIndex
  /// All zero if the controller has no public address, or was never up.
  package var address: BluetoothAddress
  package var condition: Condition
  /// The state from the management interface; nil if the kernel does not manage the adapter because a program uses the
  /// user channel, or if it does not answer.
  package var management: ManagementControllerInformation?
  /// Whether a program has opened the user channel.
  package var isTaken: Bool

  /// The kernel's name: `hci0`.
  package var name: String { index.description }
  package var isUp: Bool { condition == .up }

  /// Why no program can open the adapter, whether it is up or down; nil if programs can.
  package var obstacle: StackError? {
    isTaken ? .adapterTaken : condition.obstacle
  }
}

extension ControllerState.Condition: CustomStringConvertible {
  package var description: String {
    switch self {
    case .up: "up"
    case .down: "down"
    case .settingUp: "being set up"
    case .setUpFailed: "failed: it did not answer when the kernel set it up"
    case .unconfigured: "without an address"
    }
  }
}

extension ControllerState.Condition {
  /// Why no program can open the adapter; nil if programs can.
  var obstacle: StackError? {
    switch self {
    case .up, .down: nil
    case .settingUp: .settingUp
    case .setUpFailed: .setUpFailed
    case .unconfigured: .unconfigured
    }
  }

  /// - Parameters:
  ///   - managed: the adapters that the kernel manages, and those without an address; nil if it does not say
  init(of device: HCIDevices.Device, managed: Controllers.Managed?) {
    guard !device.isUp else {
      self = .up
      return
    }
    if let managed, managed.unconfigured.contains(device.index) {
      self = .unconfigured
    } else if device.isStarting {
      self = .settingUp
    } else {
      self = managed.map { $0.configured.contains(device.index) } ?? true ? .down : .setUpFailed
    }
  }
}

/// The adapters of this machine. Listing requires no privilege.
@BluetoothActor
package enum Controllers {
  /// The adapters that the kernel's management interface lists.
  struct Managed: Sendable {
    var configured: [AdapterIndex]
    var unconfigured: [AdapterIndex]
  }

  /// A new adapter is listed by nothing until the kernel begins to set it up, a moment later.
  private static let secondLook = Duration.milliseconds(100)

  /// All adapters, ordered by number. Each command to the kernel has a deadline of three seconds; a task that is
  /// cancelled returns at once.
  ///
  /// - Parameter isDetailed: whether to read ``ControllerState/management``. The kernel treats any caller as a manager
  ///   of the adapter, and no longer accepts pairings automatically from then on. If the kernel does not answer, no
  ///   further adapter is read.
  package static func list(isDetailed: Bool = true) async throws(StackError) -> [ControllerState] {
    let states = try await look(isDetailed: isDetailed)
    guard states.contains(where: { $0.condition == .setUpFailed && !$0.isTaken }) else { return states }
    await EpollLoop.shared.timers.sleep(for: secondLook)
    return try await look(isDetailed: isDetailed)
  }

  /// One adapter, without ``ControllerState/management``; nil if there is none of that number.
  package static func state(of index: AdapterIndex) async throws(StackError) -> ControllerState? {
    try await list(isDetailed: false).first { $0.index == index }
  }

  private static func look(isDetailed: Bool) async throws(StackError) -> [ControllerState] {
    let devices = try HCIDevices.list()
    var managed: Managed?
    var information: [AdapterIndex: ManagementControllerInformation] = [:]
    // A kernel without the management interface still has devices.
    if isDetailed || devices.contains(where: { !$0.isUp }), let management = try? Management() {
      defer { management.close() }
      do throws(StackError) {
        let configured = try await management.send(.readControllerIndexList)
        let unconfigured = try? await management.send(.readUnconfiguredControllerIndexList)
        managed = Managed(configured: configured, unconfigured: unconfigured ?? [])
        for index in isDetailed ? configured : [] {
          do throws(StackError) {
            information[index] = try await management.send(.readControllerInformation, to: index)
          } catch {
            // An adapter that was removed since is skipped.
            if error.code == .noAnswer || error.code == .cancelled { throw error }
          }
        }
      } catch {
        if error.code == .cancelled { throw error }
      }
    }
    return devices.map { device in
      ControllerState(
        index: device.index, address: device.address,
        condition: ControllerState.Condition(of: device, managed: managed),
        management: information[device.index], isTaken: HCIDevices.isTaken(device.index))
    }
  }

  /// Reads the link layer features of a controller shared with the kernel. It has to be up, and each command requires
  /// CAP_NET_RAW. It takes `HostController/commandDeadline` at most; a task that is cancelled returns at once.
  package static func features(of index: AdapterIndex) async throws(StackError) -> LEFeatures {
    let socket = try HCISocket<RawChannel>(index, filter: .rawController)
    defer { socket.packets.close() }
    let controller = RawController(timers: EpollLoop.shared.timers) { socket.packets.send($0) }
    socket.packets.onPacket = { packet, arrival in controller.receive(packet, at: arrival.time) }
    socket.packets.onClosed = { error in
      let reason = error.map { StackError(opening: $0, adapter: index) } ?? .adapterRemoved
      controller.fail(StackError("ask what \(index) can do", reason))
    }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      throw StackError("ask what \(index) can do", .system(error))
    }
    return try await awaitCallback { (done: @escaping (Result<LEFeatures, StackError>) -> Void) in
      controller.readFeatures(completion: done)
      return { controller.fail(.cancelled) }
    }
  }
}
