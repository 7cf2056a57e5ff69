import TestSupport
import Testing

/// What the modules import. SwiftPM checks the modules of the package; this checks those of the system.
@Suite struct ModuleTests {
  private static let package = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
  private static let sources = package + "/Sources"

  /// The folders of Sources that hold modules of one kind.
  private static let groups = ["Apple", "Captures", "Linux", "Program", "Storage"]

  /// The folder of each module, below Sources.
  private static let folders =
    Disk.names(in: sources).filter { !groups.contains($0) }
    + groups.flatMap { group in Disk.names(in: "\(sources)/\(group)").map { "\(group)/\($0)" } }

  private static func files(of folder: String) -> [String] { Disk.swiftFiles(below: "\(sources)/\(folder)") }

  private func imports(of folder: String) -> Set<String> {
    Self.importsOfFolders[folder] ?? Self.imports(in: Self.files(of: folder))
  }

  /// What the modules of Sources import, by their folders.
  private static let importsOfFolders = Dictionary(
    uniqueKeysWithValues: folders.map { ($0, imports(in: files(of: $0))) })

  private static func imports(in files: [String]) -> Set<String> {
    var found: Set<String> = []
    for line in files.flatMap({ (Disk.text(of: $0) ?? "").split(separator: "\n") }) {
      if let module = module(in: line) { found.insert(module) }
    }
    return found
  }

  /// The module that a line imports; nil if it is no import.
  private static func module(in line: some StringProtocol) -> String? {
    let words = line.split(whereSeparator: { " ;\t".contains($0) })
    guard let place = words.firstIndex(of: "import"), place + 1 < words.count,
      // Attributes and access levels.
      words[..<place].allSatisfy({ $0.hasPrefix("@") || accessLevels.contains(String($0)) })
    else { return nil }
    let kinds: Set = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
    let name = kinds.contains(String(words[place + 1])) ? words.dropFirst(place + 2).first : words[place + 1]
    return name.map { String($0.prefix { $0 != "." }) }
  }

  private static let accessLevels: Set = ["public", "package", "internal", "fileprivate", "private"]

  /// Protocols build without an operating system: no system calls, no event loop, no libbluetooth.
  @Test(arguments: [
    "BluetoothCore", "Storage/Files/JSON", "HCI", "L2CAP", "ATT", "GATT", "SecurityManager", "GAP",
    "Pulse", "RingLink",
    "Simulation/VirtualRadio",
  ])
  func protocolsImportNoSystem(_ module: String) {
    let system: Set = [
      "Glibc", "CHaloLinux", "CBlueZHCI", "HaloSystem", "HaloLinuxBluetooth", "Foundation",
      "FoundationEssentials",
    ]
    #expect(!Self.files(of: module).isEmpty)
    #expect(imports(of: module).isDisjoint(with: system))
  }

  /// Both roles of GATT depend on ATT alone: links and controllers are above and beside it.
  @Test func attributesKnowNoController() {
    let allowed: Set = ["ATT", "HaloBluetoothCore", "Synchronization"]
    #expect(imports(of: "GATT").subtracting(allowed) == [])
  }

  /// The targets of all packages of a program need names of their own. Only layers and products have the names of their
  /// folders; the names of others begin with Halo.
  @Test func modulesHaveNamesThatNoOtherPackageHas() throws {
    let manifest = try #require(Disk.text(of: "\(Self.package)/Package.swift"))
    let libraries = manifest.matches(of: /library\(\s*"(\w+)",(\s*in: )?/)
    let (inGroups, layers) = (
      libraries.filter { $0.output.2 != nil }, libraries.filter { $0.output.2 == nil }
    )
    #expect(inGroups.count > 10 && inGroups.allSatisfy { $0.output.1.hasPrefix("Halo") })
    #expect(
      Set(layers.map { String($0.output.1) }) == [
        "ATT", "GAP", "HCI", "HaloPackets", "HaloRaw", "L2CAP", "RingLink",
      ])
  }

  /// A program sees the names that it imports, and those that HaloRaw lists one by one: a whole module that is exported would
  /// give it more. Programs for Apple's systems expect Foundation with CoreBluetooth.
  @Test func noModuleIsExportedWhole() {
    for folder in Self.folders {
      for file in Self.files(of: folder) {
        let whole = (Disk.text(of: file) ?? "").split(separator: "\n").filter {
          // One word behind it: `@_exported import struct HCI.Advertisement` exports one name.
          $0.hasPrefix("@_exported import ") && $0.split(separator: " ").count == 3
            && $0 != "@_exported import Foundation"
        }
        #expect(whole == [], "\(file)")
      }
    }
  }

  /// A program that imports HaloRaw can name every type that it gets, and no layer has another public type.
  @Test func exportsEveryPublicType() throws {
    let door = try #require(Disk.text(of: "\(Self.sources)/HaloRaw/HaloRaw.swift"))
    let exported = Set(door.matches(of: /import \w+ \w+\.(\w+)/).map { String($0.1) })
    var declared: Set<String> = []
    for folder in Self.folders
    where !folder.hasPrefix("Apple/") && folder != "HaloRaw" && folder != "HaloPackets" {
      for file in Self.files(of: folder) {
        let text = Disk.text(of: file) ?? ""
        let types = text.matches(of: /\npublic (?:final )?(?:struct|enum|class|actor|protocol) (\w+)/)
        declared.formUnion(types.map { String($0.1) })
      }
    }
    #expect(declared == exported)
  }

  /// The command line itself knows nothing of what the commands do.
  @Test func theCommandLineKnowsNoBluetooth() {
    let allowed: Set = ["HaloBluetoothCore", "Glibc", "HaloSystem", "Synchronization"]
    for folder in ["Console", "Help", "Options", "Process"] {
      #expect(imports(of: "Program/CommandLine/\(folder)").subtracting(allowed) == [])
    }
  }

  /// The program is libraries: its executable is one call.
  @Test func theExecutableIsOneFile() throws {
    let files = Self.files(of: "halo-raw")
    #expect(files.count == 1)
    #expect(try #require(Disk.text(of: files[0])).split(separator: "\n").count <= 20)
  }

  /// So do their suites: what is tested without an event loop needs none.
  @Test(arguments: [
    "BluetoothCoreTests", "Storage/FilesTests/JSON", "HCITests", "L2CAPTests", "ATTTests",
    "GATTTests/GATTServer",
    "Captures/CaptureTests/Links", "Captures/DissectionTests",
  ])
  func suitesOfProtocolsNeedNoLoop(_ suite: String) {
    let files = Disk.swiftFiles(below: "\(Self.package)/Tests/\(suite)")
    #expect(!files.isEmpty)
    #expect(Self.imports(in: files).isDisjoint(with: ["TestLoop", "TestLink"]))
  }

  /// No library imports a C module of this package. A library that does, or that stands on one, can't be imported by a
  /// target that does not depend on it, as SwiftPM does not tell it where the C module is, and one import of any access
  /// level is enough. But it may find the library, and try to: `#if canImport(CoreBluetooth)`. See
  /// SystemCalls/LinuxFunctions.swift.
  @Test func noLibraryImportsC() {
    let ofC = Self.folders.filter { Self.files(of: $0).isEmpty }
    #expect(Set(ofC) == ["CBlueZHCI", "Linux/CLinux", "Storage/CMosquitto", "Storage/CSQLite"])
    let names: Set = ["CBlueZHCI", "CHaloLinux", "CHaloMosquitto", "CHaloSQLite"]
    let importers = Self.folders.filter { !imports(of: $0).isDisjoint(with: names) }
    #expect(importers.isEmpty)
  }

  /// Nor does an import with another form escape that: of a single declaration, or with several attributes.
  @Test func importsOfAnyFormAreSeen() {
    for line in [
      "import CHaloLinux", "internal import CHaloLinux", "@preconcurrency private import CHaloLinux",
      "@_implementationOnly import CHaloLinux", "import func CHaloLinux.halo_accept",
      "import CHaloLinux  // accept4",
      "  @_exported public import CHaloLinux.Sockets", "import CHaloLinux; import Glibc",
    ] {
      #expect(Self.module(in: line) == "CHaloLinux", "\(line)")
    }
    for line in [
      "// import CHaloLinux", "let text = \"import CHaloLinux\"", "func important() {",
      "/// - import: CHaloLinux",
    ] {
      #expect(Self.module(in: line) == nil, "\(line)")
    }
  }

  /// Functions of C that are linked are declared in one place each; other libraries are loaded when they are needed.
  @Test func onlyLinuxModulesDeclareLinkedCFunctions() {
    let declared = Self.folders.filter { module in
      Self.files(of: module).contains { (Disk.text(of: $0) ?? "").contains("@_extern(c,") }
    }
    #expect(Set(declared) == ["Linux/LinuxBluetooth", "Linux/System"])
  }

  /// Apple's API stands on Foundation; nothing else does.
  @Test func onlyApplesModulesImportFoundation() {
    let modules = Self.folders.filter {
      !imports(of: $0).isDisjoint(with: ["Foundation", "FoundationEssentials"])
    }
    #expect(Set(modules) == ["Apple/AccessorySetupKit", "Apple/CoreBluetooth"])
  }
}
