import EventLoop
import Glibc
import HCI

/// What of this machine matters to a stream. Gathered once, so that what is made of it needs no machine.
struct SystemState: Sendable {
  /// A switch that can silence the radio.
  struct RadioSwitch: Hashable, Sendable {
    /// Such as `hci0`.
    var name: String
    /// By software: a command undoes it.
    var isSoftBlocked: Bool
    /// By a key or a switch of the machine.
    var isHardBlocked: Bool

    var isBlocked: Bool { isSoftBlocked || isHardBlocked }
  }

  /// A ring that somebody asks about.
  struct RingState: Hashable, Sendable {
    /// As a person knows it: its name or address.
    var label: String
    /// Whether this machine has talked with it before.
    var isKnown: Bool
    /// Whether it was heard just now; nil if nobody could listen.
    var isAdvertising: Bool?
  }

  /// The path of this program.
  var executable = "halo-raw"
  var isRoot = false
  var capabilities: Capabilities = []
  /// What the program's file grants; nil if that can't be found out.
  var fileCapabilities: Capabilities? = []
  /// The group that may run the installed program with its capabilities; nil without such a program.
  var privilegedGroup: String?
  /// Whether `make install` has put the program where it is.
  var isInstalled = false
  var adapters: [ControllerState] = []
  /// Why there is no list of adapters.
  var adapterTrouble: KernelError?
  var radioSwitches: [RadioSwitch] = []
  /// Whether BlueZ's daemon runs.
  var runsBluetoothd = false
  /// Other programs with HCI sockets, as far as they can be seen.
  var otherPrograms: [String] = []
  /// The machine's own name of itself: `Raspberry Pi 4 Model B Rev 1.4`.
  var model: String?
  /// The Wi-Fi interfaces that are in use.
  var wifi: [String] = []
  var ring: RingState?
}

extension SystemState {
  /// Looks at this machine. That takes no privilege.
  @BluetoothActor
  static func read() async -> SystemState {
    var state = SystemState()
    state.executable = SmallFile.target(of: "/proc/self/exe") ?? state.executable
    state.isRoot = geteuid() == 0
    state.capabilities = (try? ThreadCapabilities.current())?.effective ?? []
    state.fileCapabilities = Capabilities.granted(byFile: state.executable)
    state.privilegedGroup = PrivilegedProgram.group
    state.isInstalled = PrivilegedProgram.isInstalled
    do throws(KernelError) {
      state.adapters = try await Controllers.list()
    } catch {
      state.adapterTrouble = error
    }
    state.radioSwitches = radioSwitches(in: rfkillFolder)
    state.runsBluetoothd = Processes.isRunning("bluetoothd")
    state.otherPrograms = Processes.holdingHCISockets()
    // The device tree ends its texts with a zero.
    state.model = SmallFile.line("/proc/device-tree/model").map { String($0.prefix { $0 != "\0" }) }
    state.wifi = wifiInUse(in: "/sys/class/net")
    return state
  }

  /// Where the kernel shows the switches of all radios.
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
