import TestSupport
import Testing

/// What the modules import. SwiftPM checks the modules of the package; this checks those of the system.
@Suite struct ModuleTests {
  private static let package = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
  private static let sources = package + "/Sources"

  private func files(of module: String) -> [String] { Disk.swiftFiles(below: "\(Self.sources)/\(module)") }

  private func imports(of module: String) -> Set<String> { imports(in: files(of: module)) }

  private func imports(in files: [String]) -> Set<String> {
    var found: Set<String> = []
    for line in files.flatMap({ (Disk.text(of: $0) ?? "").split(separator: "\n") }) {
      let words = line.split(separator: " ")
      if words.count <= 3, words.dropLast().last == "import", let module = words.last {
        found.insert(String(module))
      }
    }
    return found
  }

  /// Protocols build without an operating system: no system calls, no event loop, no libbluetooth.
  @Test(arguments: [
    "BluetoothCore", "JSON", "HCI", "L2CAP", "ATT", "GATTClient", "GATTServer", "Central", "RingLink",
  ])
  func protocolsImportNoSystem(_ module: String) {
    let system: Set = [
      "Glibc", "CLinux", "CBlueZHCI", "SystemCalls", "EventLoop", "Files", "LinuxBluetooth", "Foundation",
      "FoundationEssentials",
    ]
    #expect(!files(of: module).isEmpty)
    #expect(imports(of: module).isDisjoint(with: system))
  }

  /// So do their suites: what is tested without an event loop needs none.
  @Test(arguments: ["BluetoothCore", "JSON", "HCI", "L2CAP", "ATT", "GATTServer", "Dissection"])
  func suitesOfProtocolsNeedNoLoop(_ module: String) {
    let files = Disk.swiftFiles(below: "\(Self.package)/Tests/\(module)Tests")
    #expect(!files.isEmpty)
    #expect(imports(in: files).isDisjoint(with: ["EventLoop", "TestLoop", "TestLink"]))
  }

  /// The kernel's Bluetooth is called in one module.
  @Test func oneModuleCallsLinuxBluetooth() {
    let modules = Disk.names(in: Self.sources).filter { imports(of: $0).contains("CBlueZHCI") }
    #expect(Set(modules) == ["LinuxBluetooth"])
  }

  /// So are SQLite, libmosquitto and libarchive.
  @Test(arguments: [("CSQLite", "SQLite"), ("CMosquitto", "MQTT"), ("CCompression", "Capture")])
  func oneModuleCallsTheLibrary(_ library: String, _ module: String) {
    #expect(Disk.names(in: Self.sources).filter { imports(of: $0).contains(library) } == [module])
  }

  /// Apple's API stands on Foundation; nothing else does.
  @Test func onlyApplesModulesImportFoundation() {
    let modules = Disk.names(in: Self.sources).filter {
      !imports(of: $0).isDisjoint(with: ["Foundation", "FoundationEssentials"])
    }
    #expect(Set(modules) == ["AccessorySetupKit", "CoreBluetooth"])
  }
}
