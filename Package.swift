// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  // Layers hand each other `RawSpan` views, so that a packet is read where it lies.
  .enableExperimentalFeature("Lifetimes"),
  // `async` functions stay on their caller's executor: the stack never leaves its loop by accident.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  // C functions are declared in Swift, and no C module is imported: see Linux/System/SystemCalls/LinuxFunctions.swift.
  .enableExperimentalFeature("Extern"),
]

/// A library in a folder of Sources, with its suite in the same place of Tests.
///
/// A name that another package may have, too, begins with "Halo": the targets of all packages of a program need names of
/// their own.
///
/// - Parameters:
///   - folder: where it stands below Sources; nil for a folder with its name
///   - others: what its tests use besides: TestLoop, which links the event loop, for tests on that
func library(
  _ name: String, in folder: String? = nil, on dependencies: [Target.Dependency],
  tests others: [Target.Dependency] = []
) -> [Target] {
  let folder = folder ?? name
  return [
    .target(
      name: name, dependencies: dependencies, path: "Sources/\(folder)", swiftSettings: settings),
    .testTarget(
      name: "\(name)Tests",
      dependencies: [.target(name: name), "TestSupport"] + dependencies + others,
      path: "Tests/\(folder)Tests", swiftSettings: settings),
  ]
}

/// Bytes and time in, bytes and events out. These build without libbluetooth and without an event loop; the tests of some
/// use one.
let protocols = [
  // The lower layers: packets, frames, attributes.
  library("HaloBluetoothCore", in: "BluetoothCore", on: []),
  library("HCI", on: ["HaloBluetoothCore"]),
  library("L2CAP", on: ["HaloBluetoothCore", "HCI"]),
  library("ATT", on: ["HaloBluetoothCore"]),
  // Services: what both roles share, the procedures of a client, and a server.
  library("HaloGATT", in: "GATT", on: ["HaloBluetoothCore", "ATT"], tests: ["TestBearer", "TestLoop"]),
  // Pairing; roles and connections.
  library(
    "HaloSecurityManager", in: "SecurityManager", on: ["HaloBluetoothCore", "HCI", "ATT", "HaloGATT"],
    tests: ["HaloSystem"]),
  library(
    "GAP", on: ["HaloBluetoothCore", "HCI", "L2CAP", "HaloSecurityManager", "ATT", "HaloGATT"],
    tests: ["TestBearer", "TestLink", "TestLoop"]),
  // Radios and links over time: what every public interface uses.
  library(
    "HaloDevices", in: "Devices", on: ["HaloBluetoothCore", "HCI", "ATT", "HaloGATT", "GAP"],
    tests: ["HaloSimulation", "TestLink", "TestLoop"]),
  // The pulse in the light that a sensor measures.
  library("HaloPulse", in: "Pulse", on: []),
  // The ring.
  library(
    "RingLink", on: ["HaloBluetoothCore", "HCI", "ATT", "HaloGATT", "GAP"],
    tests: ["TestBearer", "TestLink", "TestLoop"]),
  // A simulated radio channel with controllers and devices; a simulated ring.
  library(
    "HaloSimulation", in: "Simulation",
    on: [
      "HaloBluetoothCore", "HCI", "L2CAP", "HaloSecurityManager", "ATT", "HaloGATT", "GAP", "RingLink",
    ],
    tests: ["HaloSystem", "TestLink", "TestLoop"]),
]

/// System calls, the event loop, files, and everything that calls the kernel's Bluetooth.
let linux = [
  library(
    "HaloSystem", in: "Linux/System", on: ["HaloBluetoothCore", "CHaloLinux"], tests: ["TestLoop"]),
  library(
    "HaloLinuxBluetooth", in: "Linux/LinuxBluetooth",
    on: ["HaloBluetoothCore", "HCI", "L2CAP", "HaloSecurityManager", "GAP", "CBlueZHCI", "HaloSystem"],
    tests: ["CHaloLinux", "HaloSimulation", "TestLoop"]),
]

/// Captures: their files and links, what they say, recording and replay.
let captures = [
  library(
    "HaloCapture", in: "Captures/Capture",
    on: ["HaloBluetoothCore", "HCI", "L2CAP", "ATT", "HaloGATT", "HaloSystem"]),
  library(
    "HaloDissection", in: "Captures/Dissection",
    on: [
      "HaloBluetoothCore", "HaloCapture", "HCI", "L2CAP", "HaloSecurityManager", "ATT", "HaloGATT",
      "RingLink",
    ], tests: ["HaloSystem"]),
  library(
    "HaloRecording", in: "Captures/Recording",
    on: [
      "HaloBluetoothCore", "HCI", "L2CAP", "ATT", "HaloGATT", "GAP", "HaloCapture", "HaloLinuxBluetooth",
      "HaloSystem",
    ], tests: ["TestLoop"]),
]

/// What is stored: the devices that were used, the ring's data, and what a broker has not got yet. Programs that depend on
/// HaloRaw build the first alone.
let storage = [
  library(
    "HaloStorage", in: "Storage/Files",
    on: ["HaloBluetoothCore", "HCI", "HaloSystem", "HaloSecurityManager", "ATT", "HaloGATT", "RingLink"],
    tests: ["GAP", "HaloSimulation", "TestLoop"]),
  library(
    "HaloRingStore", in: "Storage/RingStore",
    on: ["HaloBluetoothCore", "HaloSystem", "RingLink"], tests: ["CHaloSQLite"]),
  library(
    "HaloMQTT", in: "Storage/MQTT", on: ["HaloBluetoothCore", "HaloSystem", "HaloStorage", "HaloRingStore"],
    tests: ["CHaloMosquitto"]),
]

/// The public API for programs, and adapters by their specification.
let facade = library(
  "HaloRaw",
  on: [
    "HaloBluetoothCore", "HCI", "ATT", "HaloGATT", "HaloSecurityManager", "GAP", "HaloDevices", "HaloPulse",
    "RingLink", "HaloSimulation", "HaloSystem", "HaloLinuxBluetooth", "HaloCapture", "HaloRecording",
    "HaloStorage",
  ], tests: ["TestLink", "TestLoop"])

/// Captures for programs, and what their bytes mean: not stable.
let packets = library(
  "HaloPackets", on: ["HaloBluetoothCore", "HaloCapture", "HaloDissection"])

let layers = protocols + linux + captures + storage + [facade, packets]
let layerNames: [String] = layers.compactMap(\.first?.name)
let allLayers: [Target.Dependency] = layerNames.map { .byName(name: $0) }

/// The program. Its executable only calls the last of them.
let program = [
  // Lines and their fields; options, invocations and help, the terminal, signals and privileges.
  library(
    "HaloCommandLine", in: "Program/CommandLine",
    on: ["HaloBluetoothCore", "HaloPulse", "HaloSystem", "HaloStorage", "RingLink"], tests: ["TestLoop"]),
  // What `decode` shows of a capture, and `--explain` of a link; the report of a session, and the plots of a terminal.
  library(
    "HaloViews", in: "Program/Views",
    on: [
      "HaloBluetoothCore", "HCI", "L2CAP", "ATT", "HaloGATT", "HaloPulse", "RingLink", "HaloSystem",
      "HaloCapture", "HaloDissection", "HaloRecording", "HaloStorage", "HaloCommandLine", "HaloReportAssets",
    ]),
  // Pages for browsers, by libmicrohttpd.
  library("HaloHTTP", in: "Program/HTTP", on: ["HaloBluetoothCore", "HaloSystem"], tests: ["TestLoop"]),
  // The commands: sessions with rings and other peripherals, their output, stores and brokers.
  library(
    "HaloCommands", in: "Program/Commands",
    on: allLayers + ["HaloCommandLine", "HaloHTTP", "HaloReportAssets", "HaloViews"], tests: ["TestLoop"]),
]

/// Apple's API for Bluetooth LE. These modules import Foundation, and no module of the stack does.
let appleModules = ["CoreBluetooth", "AccessorySetupKit"]

/// What programs depend on. docs/api.txt is the list of what is public in them.
let libraryProducts = ["HaloRaw", "HaloPackets"] + appleModules

// Parts of one array would take some compilers long to type-check.
var products: [Product] = libraryProducts.map { .library(name: $0, targets: [$0]) }
products.append(.executable(name: "halo-raw", targets: ["halo-raw"]))

var targets: [Target] = layers.flatMap { $0 } + program.flatMap { $0 }
targets += [
  .target(
    name: "CoreBluetooth",
    dependencies: [
      "ATT", "HaloBluetoothCore", "GAP", "HaloGATT", "HCI", "HaloSystem", "HaloDevices", "HaloStorage",
      "HaloLinuxBluetooth", "HaloRaw",
    ], path: "Sources/Apple/CoreBluetooth",
    swiftSettings: settings),
  .testTarget(
    name: "CoreBluetoothTests",
    dependencies: [
      "ATT", "AccessorySetupKit", "HaloBluetoothCore", "CoreBluetooth", "GAP", "HaloGATT", "HCI",
      "HaloDevices", "HaloSecurityManager", "HaloSystem", "HaloStorage", "HaloRaw", "L2CAP",
      "PortedPeripheralsOfSwift5",
      "PortedPeripheralsOfSwift6", "TestSupport", "HaloSimulation",
    ],
    path: "Tests/Apple/CoreBluetoothTests", swiftSettings: settings),
  .target(
    name: "AccessorySetupKit",
    dependencies: ["CoreBluetooth", "HaloStorage", "HaloRaw", "HaloSystem"],
    path: "Sources/Apple/AccessorySetupKit", swiftSettings: settings),
  // Programs against CoreBluetooth alone, in both language modes: docs/corebluetooth.md.
  .executableTarget(
    name: "heart-rate-central", dependencies: ["CoreBluetooth"],
    path: "Examples/CoreBluetooth/HeartRateCentral", swiftSettings: [.swiftLanguageMode(.v5)]),
  .executableTarget(
    name: "explore", dependencies: ["CoreBluetooth"], path: "Examples/CoreBluetooth/Explorer"),
  .executableTarget(
    name: "bird", dependencies: ["CoreBluetooth"],
    path: "Examples/CoreBluetooth/Bird", swiftSettings: [.swiftLanguageMode(.v5)]),
  .executableTarget(
    name: "bird-peripheral", dependencies: ["CoreBluetooth"],
    path: "Examples/CoreBluetooth/BirdPeripheral", swiftSettings: [.swiftLanguageMode(.v5)]),
  .executableTarget(
    name: "ring-session", dependencies: ["CoreBluetooth", "AccessorySetupKit"],
    path: "Examples/CoreBluetooth/RingSession"),
  .executableTarget(
    name: "live-heart-rate", dependencies: ["CoreBluetooth", "AccessorySetupKit"],
    path: "Examples/CoreBluetooth/LiveHeartRate"),
  // What programs for Apple's systems are written like, compiled in both language modes: docs/porting.md.
  .target(
    name: "PortedProgramsOfSwift5", dependencies: ["CoreBluetooth", "AccessorySetupKit"],
    path: "Tests/PortedPrograms/Swift5", swiftSettings: [.swiftLanguageMode(.v5)]),
  .target(
    name: "PortedProgramsOfSwift6", dependencies: ["CoreBluetooth", "AccessorySetupKit"],
    path: "Tests/PortedPrograms/Swift6"),
  // The same for peripherals, which tests run.
  .target(
    name: "PortedPeripheralsOfSwift5", dependencies: ["CoreBluetooth"],
    path: "Tests/PortedPrograms/Peripherals/Swift5", swiftSettings: [.swiftLanguageMode(.v5)]),
  .target(
    name: "PortedPeripheralsOfSwift6", dependencies: ["CoreBluetooth"],
    path: "Tests/PortedPrograms/Peripherals/Swift6"),
  // What programs rely on, run by the tests against Bumble and on the kernel.
  .executableTarget(
    name: "corebluetooth-check", dependencies: ["CoreBluetooth"],
    path: "Tests/CoreBluetoothCheck", swiftSettings: [.swiftLanguageMode(.v5)]),
  // Programs of both roles, which meet each other in the tests against Bumble.
  .executableTarget(
    name: "contact-tracing", dependencies: ["CoreBluetooth"],
    path: "Tests/ContactTracing", swiftSettings: [.swiftLanguageMode(.v5)]),
  // One list of errands by the doors HaloRaw and CoreBluetooth, run by the tests against Bumble, and by a suite in virtual time.
  .target(
    name: "ErrandList", dependencies: ["HaloBluetoothCore", "HaloRaw"], path: "Tests/Errands/List",
    swiftSettings: settings),
  .testTarget(
    name: "ErrandListTests",
    dependencies: [
      "ATT", "ErrandList", "GAP", "HaloGATT", "HaloBluetoothCore", "HaloRaw", "HCI", "TestLoop",
      "TestSupport", "HaloSimulation",
    ],
    swiftSettings: settings),
  .executableTarget(
    name: "errands", dependencies: ["CoreBluetooth", "ErrandList", "HaloRaw"], path: "Tests/Errands/Program",
    swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
  .target(name: "CBlueZHCI"),
  .target(name: "CHaloLinux", path: "Sources/Linux/CLinux"),
  // For tests: the headers of libraries that are loaded at run time.
  .systemLibrary(name: "CHaloMosquitto", path: "Sources/Storage/CMosquitto"),
  .systemLibrary(name: "CHaloSQLite", path: "Sources/Storage/CSQLite"),
  // The script, style and markup of the HTML report: a module of its own, compiled again only when they change.
  .target(
    name: "HaloReportAssets", path: "Sources/Program/ReportAssets",
    resources: [
      .embedInCode("Script"), .embedInCode("Style"), .embedInCode("body.html"), .embedInCode("live.html"),
      .embedInCode("live.webmanifest"), .embedInCode("live-icon.svg"), .embedInCode("live-icon.png"),
    ],
    swiftSettings: settings),
  .testTarget(
    name: "HostilePeerTests",
    dependencies: [
      "HaloBluetoothCore", "HaloSystem", "HCI", "L2CAP", "ATT", "HaloGATT", "GAP", "RingLink",
      "HaloLinuxBluetooth", "HaloRecording", "TestLoop", "TestSupport",
    ],
    swiftSettings: settings),
  .executableTarget(name: "halo-raw", dependencies: ["HaloCommands"], swiftSettings: settings),
  .executableTarget(
    name: "pulse", dependencies: ["HaloRaw"],
    path: "Examples/Pulse", swiftSettings: settings),
  .executableTarget(
    name: "beats", dependencies: ["HaloRaw"],
    path: "Examples/Beats", swiftSettings: settings),
  .executableTarget(
    name: "first-steps", dependencies: ["HaloRaw"],
    path: "Examples/FirstSteps", swiftSettings: settings),
  .executableTarget(
    name: "thermometer", dependencies: ["HaloRaw"],
    path: "Examples/Thermometer", swiftSettings: settings),
  // With the settings that a program has that says nothing.
  .executableTarget(name: "inventory", dependencies: ["HaloRaw"], path: "Examples/Inventory"),
  .executableTarget(name: "logger", dependencies: ["HaloRaw"], path: "Examples/Logger"),
  .executableTarget(name: "terminal", dependencies: ["HaloRaw"], path: "Examples/Terminal"),
  .executableTarget(name: "upload", dependencies: ["HaloRaw"], path: "Examples/Upload"),
  .executableTarget(name: "proxy", dependencies: ["HaloRaw"], path: "Examples/Proxy"),
  // An example with a test on a recorded device: docs/replay.md.
  .target(
    name: "HeartRateMonitor", dependencies: ["HaloRaw"],
    path: "Examples/HeartRate/HeartRateMonitor", swiftSettings: settings),
  .executableTarget(
    name: "heart-rate", dependencies: ["HaloRaw", "HeartRateMonitor"],
    path: "Examples/HeartRate/Program", swiftSettings: settings),
  .testTarget(
    name: "HeartRateMonitorTests", dependencies: ["HaloRaw", "HeartRateMonitor"],
    path: "Examples/HeartRate/Tests", swiftSettings: settings),
  .target(name: "CAllocationCounter", path: "Tests/HotPath/CAllocationCounter"),
  .executableTarget(
    name: "hot-path-check",
    dependencies: allLayers + ["HaloCommandLine", "HaloViews", "CAllocationCounter"],
    path: "Tests/HotPath/HotPathCheck", swiftSettings: settings),
  .executableTarget(
    name: "benchmark-server", dependencies: ["HaloRaw"], path: "Tests/BenchmarkServer",
    swiftSettings: settings),
  // Pairing by the kernel, for the tests in Tests/Kernel.
  .executableTarget(
    name: "kernel-pairing",
    dependencies: [
      "ATT", "HaloBluetoothCore", "GAP", "HaloSystem", "HaloGATT", "HCI", "HaloLinuxBluetooth",
      "HaloSecurityManager", "HaloStorage",
    ],
    path: "Tests/KernelPairing", swiftSettings: settings),
  .executableTarget(
    name: "soak-check",
    dependencies: [
      "ATT", "HaloBluetoothCore", "GAP", "HaloSystem", "HaloGATT", "HCI", "HaloLinuxBluetooth", "L2CAP",
      "RingLink", "HaloSimulation",
    ],
    path: "Tests/Soak", swiftSettings: settings),
  .target(
    name: "FuzzTargets",
    dependencies: allLayers + ["HaloCommandLine", "HaloHTTP", "HaloViews", "HaloCommands"],
    path: "Tests/Fuzzing/Targets", swiftSettings: settings),
  .testTarget(
    name: "FuzzingTests", dependencies: ["FuzzTargets", "TestSupport"],
    path: "Tests/Fuzzing/FuzzingTests", swiftSettings: settings),
  // What tests share: without an event loop; on the event loop; a bearer for the client; a link for what stands on it.
  .target(
    name: "TestSupport", dependencies: ["ATT", "HaloBluetoothCore", "HCI", "HaloSystem"],
    path: "Tests/TestSupport", swiftSettings: settings),
  .target(
    name: "TestLoop", dependencies: ["HaloBluetoothCore", "HaloSystem"],
    path: "Tests/TestLoop", swiftSettings: settings),
  .target(
    name: "TestBearer", dependencies: ["ATT", "HaloBluetoothCore", "HaloGATT", "TestLoop", "TestSupport"],
    path: "Tests/TestBearer", swiftSettings: settings),
  .target(
    name: "TestLink",
    dependencies: ["HaloBluetoothCore", "GAP", "HCI", "TestBearer", "TestLoop", "TestSupport"],
    path: "Tests/TestLink", swiftSettings: settings),
]

// Only what is built with libFuzzer has the function that this calls: scripts/fuzz.
if Context.environment["HALO_FUZZ"] != nil {
  targets.append(
    .executableTarget(
      name: "halo-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzzing/Driver",
      swiftSettings: settings))
}

/// Only these modules, their suites and what both need: the rest is neither built nor linked. HALO_MODULES=HaloGATT,ATT is
/// for the work on these (Tests/README.md), HALO_PROTOCOLS for a machine that is emulated (scripts/cross-build tests).
let wantedModules: [String] =
  if let names = Context.environment["HALO_MODULES"] {
    names.split(separator: ",").map(String.init)
  } else {
    Context.environment["HALO_PROTOCOLS"] == nil ? [] : protocols.compactMap(\.first?.name)
  }
if !wantedModules.isEmpty {
  var wanted: Set<String> = []
  var open = wantedModules + wantedModules.map { "\($0)Tests" }
  while let name = open.popLast() {
    guard wanted.insert(name).inserted else { continue }
    for dependency in targets.first(where: { $0.name == name })?.dependencies ?? [] {
      switch dependency {
      case .byNameItem(let name, _), .targetItem(let name, _): open.append(name)
      default: break
      }
    }
  }
  targets.removeAll { !wanted.contains($0.name) }
  products.removeAll { !wantedModules.contains($0.name) }
}

// scripts/sanitize thread does without the suites of modules that run on one thread.
if Context.environment["HALO_WITHOUT_PROTOCOL_SUITES"] != nil {
  let modules = protocols.compactMap(\.first?.name) + ["HaloDissection"]
  targets.removeAll { modules.map { "\($0)Tests" }.contains($0.name) }
}

let package = Package(
  name: "halo-raw", products: products, targets: targets, swiftLanguageModes: [.v6])
