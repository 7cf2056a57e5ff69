import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import TestSupport
import Testing
@testable import HaloLinuxBluetooth

@testable import HCI
@testable import HaloViews
@testable import HaloCommandLine
@testable import HaloCommands

/// What doctor makes of a machine.
@Suite struct DiagnosisTests {
  private static let settings: ManagementSettings = [.lowEnergy, .powered]

  private static func adapter(
    _ index: UInt16 = 0, isUp: Bool = true, supports: ManagementSettings = settings, isTaken: Bool = false
  ) -> ControllerState {
    let information = ManagementControllerInformation(
      address: BluetoothAddress(0x001A_7DDA_7113, .public), version: CoreVersion(rawValue: 9),
      manufacturer: CompanyIdentifier(rawValue: 2), supportedSettings: supports,
      currentSettings: isUp ? supports : [], name: "")
    return ControllerState(
      index: AdapterIndex(rawValue: index), address: information.address, condition: isUp ? .up : .down,
      management: isTaken ? nil : information, isTaken: isTaken)
  }

  /// A machine on which all is well, changed.
  private static func machine(_ change: (inout SystemState) -> Void = { _ in }) -> SystemState {
    var state = SystemState()
    state.executable = "/opt/halo-raw"
    state.capabilities = .useful
    state.fileCapabilities = .useful
    state.adapters = [adapter()]
    change(&state)
    return state
  }

  private func problems(_ state: SystemState) -> [String] {
    state.findings.filter { $0.weight == .problem }.map(\.topic)
  }

  private func finding(_ topic: String, _ state: SystemState) -> Finding? {
    state.findings.first { $0.topic == topic }
  }

  @Test func aGoodMachineHasNoProblem() {
    let state = Self.machine()
    #expect(state.findings.map(\.weight) == [.good, .good, .good])
    #expect(state.findings.code == .success)
  }

  @Test func aMissingLibraryIsANote() throws {
    let state = Self.machine { $0.hasCryptography = false }
    let found = try #require(finding("libcrypto", state))
    #expect(found.weight == .note && found.remedy?.contains("apt install libssl3") == true)
    #expect(state.findings.code == .success)
  }

  /// Without the bonds, no command makes a link.
  @Test func bondsThatCannotBeReadAreAProblem() throws {
    let damaged = Self.machine {
      $0.bondsError = BondStoreError("cannot read the bonds: damaged", isDamage: true)
    }
    #expect(problems(damaged) == ["bonds"] && damaged.findings.code == .badData)
    #expect(finding("bonds", damaged)?.remedy?.contains("move the file away") == true)
    let foreign = Self.machine { $0.bondsError = BondStoreError("cannot read the bonds: Permission denied") }
    #expect(problems(foreign) == ["bonds"] && foreign.findings.code == .cannotOpenFile)
    let both = Self.machine { ($0.bondsError, $0.adapters) = (damaged.bondsError, []) }
    #expect(both.findings.code == .noAdapter)
  }

  /// Only one of the two can pair.
  @Test func itSaysWhoPairs() {
    #expect(finding("pairing", Self.machine())?.text.hasPrefix("halo-raw pairs") == true)
    let beside = finding("pairing", Self.machine { $0.runsBluetoothd = true })
    #expect(beside?.text.hasPrefix("bluetoothd pairs") == true && beside?.weight == .good)
    #expect(finding("pairing", Self.machine { $0.capabilities = .netRaw })?.weight == .note)
    #expect(finding("pairing", Self.machine { $0.adapters = [Self.adapter(isUp: false)] }) == nil)
  }

  /// An adapter that did not answer when the kernel set it up is neither down nor missing.
  @Test func anAdapterThatCouldNotBeSetUp() throws {
    let state = Self.machine {
      $0.adapters = [Self.adapter(isUp: false)]
      $0.adapters[0].condition = .setUpFailed
      $0.drivers = [AdapterIndex(rawValue: 0): "btusb"]
    }
    let found = try #require(finding("hci0", state))
    #expect(found.text.hasPrefix("failed: the controller did not answer"))
    #expect(found.remedy?.hasSuffix("sudo modprobe -r btusb; sudo modprobe btusb") == true)
    #expect(state.findings.code == .noAdapter)
    var other = state
    other.adapters.append(Self.adapter(1))
    #expect(other.findings.code == .success)
  }

  @Test func everyProblemHasARemedyAndACode() {
    let states = [
      Self.machine { $0.adapters = [] }, Self.machine { $0.capabilities = [] },
      Self.machine { $0.adapters = [Self.adapter(isUp: false)] },
      Self.machine { $0.adapters = [Self.adapter(isTaken: true)] },
      Self.machine { $0.adapters = [Self.adapter(supports: [.bredr])] },
      Self.machine { $0.adapterError = StackError("list the adapters", .noBluetooth) },
      Self.machine {
        $0.radioSwitches = [.init(name: "hci0", isSoftBlocked: true, isHardBlocked: true)]
      },
      Self.machine { $0.ring = .init(label: "R02_BEEF", isKnown: true, isAdvertising: false) },
    ]
    for state in states {
      let problems = state.findings.filter { $0.weight == .problem }
      #expect(!problems.isEmpty)
      for problem in problems { #expect(problem.remedy?.isEmpty == false && problem.code != .success) }
      #expect(state.findings.code != .success)
    }
  }

  @Test func aMissingPrivilegeIsNamedWithTheLineThatGrantsIt() {
    let state = Self.machine {
      $0.capabilities = []
      $0.fileCapabilities = []
    }
    #expect(state.findings.code == .noPermission)
    let found = finding("privileges", state)
    #expect(found?.text.hasPrefix("cap_net_raw,cap_net_admin are missing") == true)
    #expect(
      found?.remedy?.hasPrefix("sudo setcap 'cap_net_raw,cap_net_admin+ep' /opt/halo-raw") == true)
  }

  @Test func withoutTheRightToSwitchAStreamIsPossible() {
    let state = Self.machine { $0.capabilities = .netRaw }
    #expect(finding("privileges", state)?.weight == .note)
    #expect(finding("privileges", state)?.text.hasPrefix("cap_net_admin is missing") == true)
    #expect(state.findings.code == .success)
    #expect(problems(Self.machine { $0.capabilities = .netAdmin }) == ["privileges"])
  }

  @Test func capabilitiesThatDoNotArriveAreNotGrantedAgain() {
    let remedy = finding("privileges", Self.machine { $0.capabilities = [] })?.remedy
    #expect(remedy?.contains("nosuid") == true && remedy?.contains("setcap") == false)
  }

  @Test func oneGoodAdapterIsEnough() {
    let state = Self.machine {
      $0.adapters = [Self.adapter(0, isUp: false), Self.adapter(1), Self.adapter(2, isTaken: true)]
    }
    #expect(problems(state) == [])
    #expect(state.findings.map(\.weight) == [.good, .note, .good, .note, .good])
    #expect(finding("hci0", state)?.remedy != nil)
  }

  @Test func remedyForDownAdapterDependsOnPrivileges() {
    let down = [Self.adapter(isUp: false)]
    let root = finding("hci0", Self.machine { $0.adapters = down })
    #expect(root?.remedy?.hasPrefix("halo-raw adapters up hci0") == true)
    let user = finding(
      "hci0",
      Self.machine {
        $0.adapters = down
        $0.capabilities = .netRaw
      })
    #expect(user?.remedy?.hasPrefix("sudo halo-raw adapters up hci0") == true)
  }

  @Test func namesProgramsThatMayUseTheAdapter() {
    let state = Self.machine {
      $0.adapters = [Self.adapter(isTaken: true)]
      $0.otherPrograms = ["bluetoothd", "btmon", "node\u{1B}"]
    }
    let text = finding("hci0", state)?.text
    #expect(text?.contains("node") == true && text?.contains("\u{1B}") == false)
    #expect(text?.contains("bluetoothd") == false)
    #expect(state.findings.code == .noAdapter)
  }

  @Test func anAdapterCountsMoreThanAPrivilege() {
    let state = Self.machine {
      $0.capabilities = []
      $0.adapters = []
    }
    #expect(problems(state) == ["privileges", "adapter"])
    #expect(state.findings.code == .noAdapter)
  }

  @Test func suggestsLoadingBluetoothModule() {
    let state = Self.machine {
      $0.adapters = []
      $0.adapterError = StackError("list the adapters", .noBluetooth)
    }
    #expect(finding("adapter", state)?.remedy?.contains("modprobe bluetooth") == true)
  }

  @Test func bluetoothdAndWiFiAreNotes() {
    let state = Self.machine {
      $0.runsBluetoothd = true
      $0.wifi = ["wlan0"]
    }
    #expect(finding("bluetoothd", state)?.weight == .note)
    #expect(finding("wi-fi", state) == nil, "only a Raspberry Pi has one antenna for both")
    var pi = state
    pi.model = "Raspberry Pi 4 Model B Rev 1.4"
    #expect(finding("wi-fi", pi)?.text.contains("wlan0") == true)
    #expect(pi.findings.code == .success)
    pi.adapters = []
    #expect(finding("adapter", pi)?.remedy?.contains("disable-bt") == true)
  }

  @Test func aKnownRingThatIsSilentMayBeHeldByAPhone() {
    func ring(isKnown: Bool, isAdvertising: Bool?, isInUse: Bool = false) -> Finding? {
      let state = SystemState.RingState(
        label: "R02_BEEF", isKnown: isKnown, isAdvertising: isAdvertising, isInUse: isInUse)
      return finding("ring", Self.machine { $0.ring = state })
    }
    #expect(
      ring(isKnown: true, isAdvertising: false)?.text.contains("a phone may be connected to it") == true)
    #expect(ring(isKnown: true, isAdvertising: false)?.code == .notFound)
    #expect(ring(isKnown: false, isAdvertising: false)?.text.contains("phone") == false)
    #expect(ring(isKnown: false, isAdvertising: true)?.weight == .good)
    #expect(ring(isKnown: true, isAdvertising: nil)?.weight == .note)
    #expect(ring(isKnown: true, isAdvertising: nil, isInUse: true)?.text.contains("another program") == true)
    #expect(ring(isKnown: true, isAdvertising: nil, isInUse: true)?.code == .notFound)
  }

  @Test func exitCodeReflectsFirstProblem() {
    let silent = SystemState.RingState(label: "R02_BEEF", isKnown: false, isAdvertising: false)
    #expect(Self.machine { $0.ring = silent }.findings.code == .notFound)
    let state = Self.machine {
      $0.ring = silent
      $0.capabilities = []
    }
    #expect(state.findings.code == .noPermission)
  }

  @Test func physicalLayersAreReadAsTheKernelCountsThem() throws {
    // Supported, configurable, selected; BR/EDR's share the sets.
    for (bits, phys) in [
      ("ff1e0000", [LEPHYs.le1M, .le2M]), ("007e0000", [.le1M, .le2M, .leCoded]), ("ff010000", []),
    ] {
      let bytes = hex("\(bits) 00000000 00000000")
      let supported = try bytes.withReader(ManagementCommand.getPHYConfiguration.read)
      #expect(supported == LEPHYs(phys))
    }
    checkDecoderIsTotal(hex("ff1e0000 00000000 00000000")) { bytes in
      _ = try? bytes.withReader(ManagementCommand.getPHYConfiguration.read)
    }
  }

  private func row(
    _ adapter: ControllerState, phys: LEPHYs? = nil, features: LEFeatures? = nil, runsBluetoothd: Bool = false
  ) -> AdapterRow {
    AdapterRow(adapter: adapter, phys: phys, features: features, runsBluetoothd: runsBluetoothd)
  }

  @Test func adapterRowNamesOwner() {
    #expect(row(Self.adapter()).owner == "kernel")
    #expect(row(Self.adapter(), runsBluetoothd: true).owner == "bluetoothd")
    let taken = row(Self.adapter(isTaken: true), runsBluetoothd: true)
    #expect(taken.owner == "user channel")
    #expect(taken.line == "hci0  00:1A:7D:DA:71:13  up    owner: user channel")
    let able = row(Self.adapter(), phys: [.le1M, .le2M], features: [.encryption, .phyCoded])
    #expect(able.line.contains("  LE 1M LE 2M  powered le  "))
    #expect(able.line.hasSuffix("\n      LE features: LE Encryption, LE Coded PHY"))
    guard case .flag(nil) = taken.fields[4] else {
      Issue.record("nobody tells whether it can do LE")
      return
    }
  }
}
