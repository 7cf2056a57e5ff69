// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  // Layers hand each other `RawSpan` views, so that a packet is read where it lies.
  .enableExperimentalFeature("Lifetimes"),
  // `async` functions stay on their caller's executor: the stack never leaves its loop by accident.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  // C functions are declared in Swift, and no C module is imported: see SystemCalls/LinuxFunctions.swift.
  .enableExperimentalFeature("Extern"),
]

/// A layer of the stack: a module that only imports the layers below it, with tests of its own.
///
/// - Parameter others: what its tests use besides: TestLoop, which links the event loop, for tests on that
func layer(
  _ name: String, on dependencies: [Target.Dependency], tests others: [Target.Dependency] = []
) -> [Target] {
  [
    .target(name: name, dependencies: dependencies, swiftSettings: settings),
    .testTarget(
      name: "\(name)Tests",
      dependencies: [.target(name: name), "TestSupport"] + dependencies + others,
      swiftSettings: settings),
  ]
}

/// Bytes and time in, bytes and events out. These build without libbluetooth and without an event loop; the tests of some
/// use one.
let protocols = [
  layer("BluetoothCore", on: []),
  // What files and lines share.
  layer("JSON", on: []),
  layer("HCI", on: ["BluetoothCore"]),
  layer("L2CAP", on: ["BluetoothCore", "HCI"]),
  layer("ATT", on: ["BluetoothCore"]),
  layer("GATTClient", on: ["BluetoothCore", "HCI", "ATT"], tests: ["TestLink", "TestLoop"]),
  layer("GATTServer", on: ["BluetoothCore", "ATT", "GATTClient"]),
  layer(
    "Central", on: ["BluetoothCore", "HCI", "L2CAP", "GATTClient"], tests: ["ATT", "TestLink", "TestLoop"]),
  layer(
    "RingLink", on: ["BluetoothCore", "HCI", "ATT", "GATTClient", "GATTServer", "Central"],
    tests: ["TestLink", "TestLoop"]),
  layer(
    "VirtualRing", on: ["BluetoothCore", "HCI", "L2CAP", "ATT", "GATTClient", "GATTServer", "RingLink"],
    tests: ["Central", "EventLoop", "TestLoop"]),
]

/// What calls the system, and what is built on that.
let systemLayers = [
  // Linux: system calls, the event loop, files, and everything that calls the kernel's Bluetooth.
  layer("SystemCalls", on: ["CLinux"]),
  layer("EventLoop", on: ["BluetoothCore", "SystemCalls"], tests: ["CLinux", "TestLoop"]),
  layer("Files", on: ["BluetoothCore", "SystemCalls"]),
  layer(
    "LinuxBluetooth",
    on: [
      "BluetoothCore", "HCI", "L2CAP", "GATTClient", "Central", "CBlueZHCI", "SystemCalls",
      "EventLoop", "Files",
    ], tests: ["CLinux", "TestLoop", "VirtualRing"]),
  // Captures: their files, what they say, recording and replay.
  layer("Capture", on: ["BluetoothCore", "Files", "SystemCalls"]),
  layer("Dissection", on: ["BluetoothCore", "Capture", "HCI", "L2CAP", "ATT", "GATTClient", "RingLink"]),
  layer(
    "Recording",
    on: [
      "BluetoothCore", "HCI", "L2CAP", "ATT", "GATTClient", "GATTServer", "Central", "Capture", "EventLoop",
      "LinuxBluetooth", "SystemCalls",
    ], tests: ["TestLoop"]),
  // What is stored about rings: the ones that were used, and their data.
  layer(
    "KnownDevices", on: ["BluetoothCore", "Files", "JSON", "ATT", "GATTClient", "GATTServer", "RingLink"],
    tests: ["Central", "EventLoop", "HCI", "TestLoop", "VirtualRing"]),
  layer("RingStore", on: ["BluetoothCore", "Files", "RingLink", "SQLite"], tests: ["CSQLite"]),
  // Where records go besides the output: a broker.
  layer(
    "MQTT", on: ["BluetoothCore", "Files", "JSON", "SQLite", "SystemCalls"], tests: ["CMosquitto"]),
  // All of it with one import, and adapters by their specification.
  layer(
    "HaloRaw",
    on: [
      "BluetoothCore", "HCI", "ATT", "GATTClient", "GATTServer", "Central", "RingLink", "VirtualRing",
      "EventLoop", "Files", "LinuxBluetooth", "Capture", "Recording", "KnownDevices",
    ], tests: ["TestLoop"]),
]

let layers = protocols + systemLayers

/// Apple's API for Bluetooth LE. These modules import Foundation, and no module of the stack does.
let appleModules = ["CoreBluetooth", "AccessorySetupKit"]

/// A build for libFuzzer (scripts/fuzz): halo-raw is a library in it, as no program can import another one.
let isForFuzzing = Context.environment["HALO_FUZZ"] != nil

let layerNames: [String] = layers.compactMap(\.first?.name)
let allLayers: [Target.Dependency] = layerNames.map { .byName(name: $0) }

// Parts of one array would take some compilers long to type-check.
var products: [Product] = (layerNames + appleModules).map { .library(name: $0, targets: [$0]) }
if !isForFuzzing { products.append(.executable(name: "halo-raw", targets: ["halo-raw"])) }

var targets: [Target] = layers.flatMap { $0 }
targets += [
  .target(name: "CoreBluetooth", dependencies: ["HaloRaw", "Files"], swiftSettings: settings),
  .testTarget(
    name: "CoreBluetoothTests",
    dependencies: ["CoreBluetooth", "AccessorySetupKit", "HaloRaw", "TestSupport"],
    swiftSettings: settings),
  .target(
    name: "AccessorySetupKit", dependencies: ["CoreBluetooth", "HaloRaw"], swiftSettings: settings),
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
    name: "ring-session", dependencies: ["CoreBluetooth", "AccessorySetupKit"],
    path: "Examples/CoreBluetooth/RingSession"),
  // What programs for Apple's systems are written like, compiled in both language modes: docs/porting.md.
  .target(
    name: "PortedProgramsOfSwift5", dependencies: ["CoreBluetooth", "AccessorySetupKit"],
    path: "Tests/PortedPrograms/Swift5", swiftSettings: [.swiftLanguageMode(.v5)]),
  .target(
    name: "PortedProgramsOfSwift6", dependencies: ["CoreBluetooth", "AccessorySetupKit"],
    path: "Tests/PortedPrograms/Swift6"),
  // What programs rely on, run by the tests against Bumble and on the kernel.
  .executableTarget(
    name: "corebluetooth-check", dependencies: ["CoreBluetooth"],
    path: "Tests/CoreBluetoothCheck", swiftSettings: [.swiftLanguageMode(.v5)]),
  .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
  .target(name: "CBlueZHCI"),
  .target(name: "CLinux"),
  // For tests: the header of a library that is loaded at run time.
  .systemLibrary(name: "CMosquitto"),
  // What files of SQLite have in common.
  .target(
    name: "SQLite", dependencies: ["BluetoothCore", "CSQLite", "Files"], swiftSettings: settings,
    linkerSettings: [.linkedLibrary("sqlite3")]),
  // What the command line prints. A room of its own, so that the check of the hot path goes all the way to it.
  .target(
    name: "LineOutput", dependencies: ["BluetoothCore", "JSON", "RingLink", "SystemCalls"],
    swiftSettings: settings),
  .testTarget(
    name: "LineOutputTests",
    dependencies: ["LineOutput", "BluetoothCore", "JSON", "RingLink", "SystemCalls", "TestSupport"],
    swiftSettings: settings),
  // The script, style and markup of the HTML report: a module of its own, compiled again only when they change.
  .target(
    name: "ReportAssets",
    resources: [.embedInCode("Script"), .embedInCode("Style"), .embedInCode("body.html")],
    swiftSettings: settings),
  .testTarget(
    name: "CommandLineTests",
    dependencies: allLayers + ["halo-raw", "TestLoop", "TestSupport"],
    swiftSettings: settings),
  .testTarget(
    name: "HostilePeerTests",
    dependencies: [
      "BluetoothCore", "EventLoop", "HCI", "L2CAP", "ATT", "GATTClient", "Central", "RingLink",
      "LinuxBluetooth", "Recording", "TestLoop", "TestSupport",
    ],
    swiftSettings: settings),
  .executableTarget(
    name: "pulse", dependencies: ["HaloRaw"],
    path: "Examples/Pulse", swiftSettings: settings),
  .executableTarget(
    name: "first-steps", dependencies: ["HaloRaw"],
    path: "Examples/FirstSteps", swiftSettings: settings),
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
    dependencies: allLayers + ["LineOutput", "CAllocationCounter"],
    path: "Tests/HotPath/HotPathCheck", swiftSettings: settings),
  .executableTarget(
    name: "soak-check",
    dependencies: [
      "BluetoothCore", "Central", "EventLoop", "GATTClient", "HCI", "RingLink", "VirtualRing",
    ],
    path: "Tests/Soak", swiftSettings: settings),
  .target(
    name: "FuzzTargets", dependencies: allLayers,
    path: "Tests/Fuzzing/Targets", swiftSettings: settings),
  .testTarget(
    name: "FuzzingTests", dependencies: ["FuzzTargets", "TestSupport"],
    path: "Tests/Fuzzing/FuzzingTests", swiftSettings: settings),
  // What tests share: without an event loop; on the event loop; a link for the client.
  .target(
    name: "TestSupport", dependencies: ["ATT", "BluetoothCore", "HCI", "SystemCalls"],
    path: "Tests/TestSupport", swiftSettings: settings),
  .target(
    name: "TestLoop", dependencies: ["BluetoothCore", "EventLoop"],
    path: "Tests/TestLoop", swiftSettings: settings),
  .target(
    name: "TestLink", dependencies: ["BluetoothCore", "GATTClient", "HCI", "TestLoop", "TestSupport"],
    path: "Tests/TestLink", swiftSettings: settings),
]

let programDependencies: [Target.Dependency] = allLayers + ["LineOutput", "ReportAssets", "CLinux"]
if isForFuzzing {
  targets += [
    .target(
      name: "halo-raw", dependencies: programDependencies, exclude: ["Main.swift"], swiftSettings: settings),
    .executableTarget(
      name: "halo-fuzz", dependencies: ["FuzzTargets", "halo-raw"], path: "Tests/Fuzzing/Driver",
      swiftSettings: settings),
  ]
} else {
  targets.append(
    .executableTarget(name: "halo-raw", dependencies: programDependencies, swiftSettings: settings))
}

/// Only these modules, their suites and what both need: the rest is neither built nor linked. HALO_MODULES=GATTClient,ATT is
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

let package = Package(
  name: "halo-raw", products: products, targets: targets, swiftLanguageModes: [.v6])
