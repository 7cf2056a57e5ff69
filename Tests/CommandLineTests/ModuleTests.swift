import Glibc
import TestSupport
import Testing

/// What the modules import. SwiftPM checks the modules of the package; this checks those of the system.
@Suite struct ModuleTests {
  private static let sources =
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Sources"

  private func imports(of module: String) -> Set<String> {
    var found: Set<String> = []
    for line in files(below: "\(Self.sources)/\(module)").flatMap({ text(of: $0).split(separator: "\n") })
    where line.hasPrefix("import ") {
      found.insert(String(line.dropFirst("import ".count)))
    }
    return found
  }

  /// Protocols build without an operating system: no system calls, no event loop, no libbluetooth.
  @Test(arguments: [
    "BluetoothCore", "HCI", "L2CAP", "ATT", "GATTClient", "GATTServer", "Central", "RingLink",
  ])
  func protocolsImportNoSystem(_ module: String) {
    let system: Set = [
      "Glibc", "CLinux", "CBlueZHCI", "SystemCalls", "EventLoop", "Files", "LinuxBluetooth", "Foundation",
      "FoundationEssentials",
    ]
    #expect(!files(below: "\(Self.sources)/\(module)").isEmpty)
    #expect(imports(of: module).isDisjoint(with: system))
  }

  /// The kernel's Bluetooth is called in one module.
  @Test func oneModuleCallsLinuxBluetooth() throws {
    let modules = try #require(contents(of: Self.sources)).filter {
      imports(of: $0).contains("CBlueZHCI")
    }
    #expect(Set(modules) == ["LinuxBluetooth"])
  }

  private func contents(of folder: String) -> [String]? {
    guard let directory = opendir(folder) else { return nil }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  private func files(below folder: String) -> [String] {
    (contents(of: folder) ?? []).flatMap { name in
      name.hasSuffix(".swift") ? ["\(folder)/\(name)"] : files(below: "\(folder)/\(name)")
    }
  }

  private func text(of path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
