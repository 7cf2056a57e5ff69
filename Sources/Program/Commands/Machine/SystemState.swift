import GAP
import Glibc
import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloLinuxBluetooth
import HaloSecurityManager
import HaloSystem
import RingLink

/// The state of this machine that matters to a stream. It is read once, so that the findings are a pure function of it.
struct SystemState: Sendable {
  /// A switch that can block the radio.
  struct RadioSwitch: Hashable, Sendable {
    /// Such as `hci0`.
    var name: String
    /// Blocked by software; a command unblocks it.
    var isSoftBlocked: Bool
    /// Blocked by a key or switch of the machine.
    var isHardBlocked: Bool

    var isBlocked: Bool { isSoftBlocked || isHardBlocked }
  }

  /// The ring that the command line names, or the known one.
  struct RingState: Hashable, Sendable {
    /// Its name or address.
    var label: String
    /// Whether this machine has used it before.
    var isKnown: Bool
    /// Whether it is advertising; nil if no adapter could scan.
    var isAdvertising: Bool?
    /// Whether another program of this machine is connected to it.
    var isInUse = false
  }

  /// The path of this program.
  var executable = "halo-raw"
  var isRoot = false
  var capabilities: Capabilities = []
  /// The capabilities that the program's file grants; nil if unknown.
  var fileCapabilities: Capabilities? = []
  /// The group that may run the installed program with its capabilities; nil without such a program.
  var privilegedGroup: String?
  /// Whether the program was installed with `make install` or from a package.
  var isInstalled = false
  var adapters: [ControllerState] = []
  /// The kernel module that drives an adapter, for those that could not be set up.
  var drivers: [AdapterIndex: String] = [:]
  /// Why the list of adapters cannot be read.
  var adapterError: StackError?
  var radioSwitches: [RadioSwitch] = []
  /// Whether BlueZ's daemon runs.
  var runsBluetoothd = false
  /// Other programs with HCI sockets that this user can see.
  var otherPrograms: [String] = []
  /// The model from the device tree: `Raspberry Pi 4 Model B Rev 1.4`.
  var model: String?
  /// The Wi-Fi interfaces that are in use.
  var wifi: [String] = []
  /// Whether the library of cryptography is installed.
  var hasCryptography = true
  /// Why the bonds cannot be read, without which no link is made.
  var bondsError: BondStoreError?
  var ring: RingState?

  /// Reads the state of this machine. Needs no privilege.
  @BluetoothActor
  static func read() async -> SystemState {
    var state = SystemState()
    state.executable = SmallFile.target(of: "/proc/self/exe") ?? state.executable
    state.isRoot = geteuid() == 0
    state.capabilities = (try? ThreadCapabilities.current())?.effective ?? []
    state.fileCapabilities = Capabilities.granted(byFile: state.executable)
    state.privilegedGroup = PrivilegedProgram.group
    state.isInstalled = PrivilegedProgram.isInstalled
    do throws(StackError) {
      state.adapters = try await Controllers.list()
    } catch {
      state.adapterError = error
    }
    for adapter in state.adapters where adapter.condition == .setUpFailed {
      state.drivers[adapter.index] = driver(in: "/sys/class/bluetooth/\(adapter.index)")
    }
    state.radioSwitches = radioSwitches(in: rfkillFolder)
    state.runsBluetoothd = RunningPrograms.contains("bluetoothd")
    state.otherPrograms = Processes.holdingHCISockets()
    // Strings of the device tree end with a zero byte.
    state.model = SmallFile.line("/proc/device-tree/model").map { String($0.prefix { $0 != "\0" }) }
    state.wifi = wifiInUse(in: "/sys/class/net")
    state.hasCryptography = LibcryptoCryptography.shared != nil
    return state
  }

  /// The module of the driver of an adapter, from its folder; nil if it is built into the kernel.
  static func driver(in folder: String) -> String? {
    SmallFile.target(of: "\(folder)/device/driver/module").flatMap { path in
      path.split(separator: "/").last.map(String.init)
    }
  }

  /// The kernel's folder of the switches of all radios.
  static let rfkillFolder = "/sys/class/rfkill"

  /// The switches for Bluetooth below a folder such as `/sys/class/rfkill`.
  static func radioSwitches(in folder: String) -> [RadioSwitch] {
    SmallFile.names(in: folder).compactMap { entry in
      let path = "\(folder)/\(entry)"
      guard SmallFile.line("\(path)/type") == "bluetooth" else { return nil }
      return RadioSwitch(
        name: SmallFile.line("\(path)/name") ?? entry, isSoftBlocked: SmallFile.line("\(path)/soft") == "1",
        isHardBlocked: SmallFile.line("\(path)/hard") == "1")
    }
  }

  /// The Wi-Fi interfaces that are up, below a folder such as `/sys/class/net`.
  static func wifiInUse(in folder: String) -> [String] {
    SmallFile.names(in: folder).filter { name in
      SmallFile.names(in: "\(folder)/\(name)").contains("wireless")
        && SmallFile.line("\(folder)/\(name)/operstate") == "up"
    }
  }
}

extension SystemState.RingState {
  /// Opens the first usable adapter, with the privileges that there are now: to leave the kernel as it was needs more than to
  /// scan.
  @BluetoothActor
  static func openAdapter(of adapters: [ControllerState]) async -> KernelAdapter? {
    guard let state = adapters.first(where: { $0.isUp && !$0.isTaken }) else { return nil }
    let adapter = KernelAdapter(state.index)
    // Another finding says why the adapter can't be used.
    return (try? await adapter.open()) == nil ? nil : adapter
  }

  /// Scans for a ring.
  ///
  /// - Parameters:
  ///   - label: the name of the ring in messages
  ///   - adapter: where; nil if none can be used
  ///   - isKnown: whether this machine has used the ring before
  @BluetoothActor
  static func look(
    for ring: RingSelector, label: String, on adapter: KernelAdapter?, time: Duration, isKnown: Bool
  ) async -> SystemState.RingState {
    var state = SystemState.RingState(label: label, isKnown: isKnown)
    guard let adapter else { return state }
    let central = Central(adapter)
    do {
      try await central.start()
      _ = try await RingFinder.find(ring, on: central, deadline: time)
      state.isAdvertising = true
    } catch let error as RingError {
      switch error {
      case .notFound, .onlyPossible: state.isAdvertising = false
      case .bluetooth(let cause): state.isInUse = cause.code == .deviceInUse
      default: break
      }
    } catch {
      // Another finding says why the adapter can't be used.
    }
    await central.stop()
    return state
  }
}

/// The programs that use HCI sockets, from /proc.
enum Processes {
  /// The names of the other programs that hold HCI sockets and may have taken an adapter. Without privileges, only the
  /// user's own programs are visible.
  fileprivate static func holdingHCISockets() -> [String] {
    guard let table = SmallFile.text("/proc/net/hci") else { return [] }
    let sockets = Set(socketNumbers(inTable: table).map { "socket:[\($0)]" })
    let own = String(getpid())
    var names: Set<String> = []
    for number in RunningPrograms.numbers where number != own && !sockets.isEmpty {
      let holds = SmallFile.names(in: "/proc/\(number)/fd").contains { descriptor in
        SmallFile.target(of: "/proc/\(number)/fd/\(descriptor)").map { sockets.contains($0) } ?? false
      }
      if holds, let name = RunningPrograms.name(of: number) { names.insert(name) }
    }
    return names.sorted()
  }

  /// The inode numbers in the text of `/proc/net/hci`: the sixth column, after a heading.
  static func socketNumbers(inTable text: String) -> [UInt64] {
    text.split(separator: "\n").dropFirst().compactMap { line in
      let columns = line.split(separator: " ", omittingEmptySubsequences: true)
      return columns.count > 5 ? UInt64(columns[5]) : nil
    }
  }
}
