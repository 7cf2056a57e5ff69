// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  // Layers hand each other `RawSpan` views, so that a packet is read where it lies.
  .enableExperimentalFeature("Lifetimes"),
  // `async` functions stay on their caller's executor: the stack never leaves its loop by accident.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  // C functions are declared in Swift, and no C module is imported: see Linux/SystemCalls/LinuxFunctions.swift.
  .enableExperimentalFeature("Extern"),
]

/// A library in a folder of Sources, with its suite in the same place of Tests.
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
  // The staircase: packets, frames, attributes.
  library("BluetoothCore", on: []),
  library("HCI", on: ["BluetoothCore"]),
  library("L2CAP", on: ["BluetoothCore", "HCI"]),
  library("ATT", on: ["BluetoothCore"]),
  // Services: the procedures of a client, and a server.
  library("GATTClient", on: ["BluetoothCore", "HCI", "ATT"], tests: ["TestLink", "TestLoop"]),
  library("GATTServer", on: ["BluetoothCore", "ATT", "GATTClient"]),
  // Roles and connections.
  library(
    "GAP", on: ["BluetoothCore", "HCI", "L2CAP", "GATTClient"], tests: ["ATT", "TestLink", "TestLoop"]),
  // The ring; a radio and a ring in memory.
  library(
    "RingLink", on: ["BluetoothCore", "HCI", "ATT", "GATTClient", "GATTServer", "GAP"],
    tests: ["TestLink", "TestLoop"]),
  library(
    "VirtualRing", on: ["BluetoothCore", "HCI", "L2CAP", "ATT", "GATTClient", "GATTServer", "RingLink"],
    tests: ["GAP", "EventLoop", "TestLoop"]),
  // What files and lines share.
  library("JSON", in: "Storage/JSON", on: []),
]

/// System calls, the event loop, files, and everything that calls the kernel's Bluetooth.
let linux = [
  library("SystemCalls", in: "Linux/SystemCalls", on: ["CLinux"]),
  library(
    "EventLoop", in: "Linux/EventLoop", on: ["BluetoothCore", "SystemCalls"],
    tests: ["CLinux", "TestLoop"]),
  library("Files", in: "Linux/Files", on: ["BluetoothCore", "SystemCalls"]),
  library(
    "LinuxBluetooth", in: "Linux/LinuxBluetooth",
    on: [
      "BluetoothCore", "HCI", "L2CAP", "GATTClient", "GAP", "CBlueZHCI", "SystemCalls", "EventLoop",
      "Files",
    ], tests: ["CLinux", "TestLoop", "VirtualRing"]),
]

/// Captures: their files, what they say, recording and replay.
let captures = [
  library("Capture", in: "Captures/Capture", on: ["BluetoothCore", "Files", "SystemCalls"]),
  library(
    "Dissection", in: "Captures/Dissection",
    on: ["BluetoothCore", "Capture", "HCI", "L2CAP", "ATT", "GATTClient", "RingLink"]),
  library(
    "Recording", in: "Captures/Recording",
    on: [
      "BluetoothCore", "HCI", "L2CAP", "ATT", "GATTClient", "GATTServer", "GAP", "Capture",
      "EventLoop",
      "LinuxBluetooth", "SystemCalls",
    ], tests: ["TestLoop"]),
]

/// What is stored: the devices that were used, the ring's data, and what a broker has not got yet.
let storage = [
  [
    .target(
      name: "SQLite", dependencies: ["BluetoothCore", "Files", "CSQLite"],
      path: "Sources/Storage/SQLite",
      swiftSettings: settings, linkerSettings: [.linkedLibrary("sqlite3")])
  ],
  library(
    "KnownDevices", in: "Storage/KnownDevices",
    on: ["BluetoothCore", "Files", "JSON", "ATT", "GATTClient", "GATTServer", "RingLink"],
    tests: ["GAP", "EventLoop", "HCI", "TestLoop", "VirtualRing"]),
  library(
    "RingStore", in: "Storage/RingStore", on: ["BluetoothCore", "Files", "RingLink", "SQLite"],
    tests: ["CSQLite"]),
  library(
    "MQTT", in: "Storage/MQTT",
    on: ["BluetoothCore", "Files", "JSON", "SQLite", "SystemCalls"], tests: ["CMosquitto"]
  ),
]

/// All of it with one import, and adapters by their specification.
let facade = library(
  "HaloRaw",
  on: [
    "BluetoothCore", "HCI", "ATT", "GATTClient", "GATTServer", "GAP", "RingLink", "VirtualRing",
    "EventLoop",
    "Files", "LinuxBluetooth", "Capture", "Recording", "KnownDevices",
  ], tests: ["TestLoop"])

let layers = protocols + linux + captures + storage + [facade]

/// What the command line prints: a library of its own, so that the check of the hot path goes all the way to it.
let lineOutput = library(
  "LineOutput", in: "Program/LineOutput",
  on: ["BluetoothCore", "JSON", "RingLink", "SystemCalls"])

/// Apple's API for Bluetooth LE. These modules import Foundation, and no module of the stack does.
let appleModules = ["CoreBluetooth", "AccessorySetupKit"]

/// A build for libFuzzer (scripts/fuzz): halo-raw is a library in it, as no program can import another one.
let isForFuzzing = Context.environment["HALO_FUZZ"] != nil

let layerNames: [String] = layers.compactMap(\.first?.name)
let allLayers: [Target.Dependency] = layerNames.map { .byName(name: $0) }

// Parts of one array would take some compilers long to type-check.
var products: [Product] = (layerNames + appleModules).map { .library(name: $0, targets: [$0]) }
if !isForFuzzing { products.append(.executable(name: "halo-raw", targets: ["halo-raw"])) }

var targets: [Target] = layers.flatMap { $0 } + lineOutput
targets += [
  .target(
    name: "CoreBluetooth", dependencies: ["HaloRaw", "Files"], path: "Sources/Apple/CoreBluetooth",
    swiftSettings: settings),
  .testTarget(
    name: "CoreBluetoothTests",
    dependencies: ["CoreBluetooth", "AccessorySetupKit", "HaloRaw", "TestSupport"],
    path: "Tests/Apple/CoreBluetoothTests", swiftSettings: settings),
  .target(
    name: "AccessorySetupKit", dependencies: ["CoreBluetooth", "HaloRaw"],
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
  .target(name: "CBlueZHCI"),
  .target(name: "CLinux", path: "Sources/Linux/CLinux"),
  .systemLibrary(
    name: "CSQLite", path: "Sources/Storage/CSQLite", pkgConfig: "sqlite3",
    providers: [.apt(["libsqlite3-dev"])]),
  // For tests: the header of a library that is loaded at run time.
  .systemLibrary(name: "CMosquitto", path: "Sources/Storage/CMosquitto"),
  // The script, style and markup of the HTML report: a module of its own, compiled again only when they change.
  .target(
    name: "ReportAssets", path: "Sources/Program/ReportAssets",
    resources: [.embedInCode("Script"), .embedInCode("Style"), .embedInCode("body.html")],
    swiftSettings: settings),
  .testTarget(
    name: "CommandLineTests",
    dependencies: allLayers + ["halo-raw", "TestLoop", "TestSupport"], path: "Tests/Program/CommandLineTests",
    swiftSettings: settings),
  .testTarget(
    name: "HostilePeerTests",
    dependencies: [
      "BluetoothCore", "EventLoop", "HCI", "L2CAP", "ATT", "GATTClient", "GAP", "RingLink",
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
      "BluetoothCore", "GAP", "EventLoop", "GATTClient", "HCI", "RingLink", "VirtualRing",
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

let programDependencies: [Target.Dependency] =
  allLayers + ["LineOutput", "ReportAssets", "CLinux"]
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
