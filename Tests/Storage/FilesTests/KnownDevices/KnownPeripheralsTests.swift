import HaloBluetoothCore
import HaloStorage
import TestSupport
import Testing

@Suite struct KnownPeripheralsTests {
  private func store(_ name: String, _ kind: BluetoothAddress.Kind, in path: String) -> [String] {
    var reports: [String] = []
    let address = BluetoothAddress(0xC011_2233_A1B2, kind)
    KnownPeripherals.store(KnownPeripheral(peer: PeerIdentity(address), name: name), path: path) {
      reports.append($0)
    }
    return reports
  }

  @Test func addressesAreStoredWithTheirTypes() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/peripherals.json"
    #expect(store("Public", .public, in: path).isEmpty)
    #expect(store("Random", .random, in: path).isEmpty)
    #expect(store("Renamed", .random, in: path).isEmpty)
    let known = KnownPeripherals(path: path) { Issue.record("\($0)") }
    #expect(known.peripherals.map(\.name) == ["Public", "Renamed"])
    #expect(known[PeerIdentity(BluetoothAddress(0xC011_2233_A1B2, .public))]?.name == "Public")
  }

  @Test func renamesDamagedFile() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/peripherals.json"
    _ = store("One", .public, in: path)
    folder.write("peripherals.json", "[damaged")
    #expect(store("Two", .public, in: path).count == 1)
    #expect(Disk.text(of: path + ".damaged") == "[damaged")
    #expect(KnownPeripherals(path: path) { _ in }.peripherals.map(\.name) == ["Two"])
  }

  @Test func theFileOfANewerVersionIsNotChanged() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/peripherals.json"
    _ = store("One", .public, in: path)
    let newer = #"{"version": 2, "peripherals": {}}"#
    folder.write("peripherals.json", newer)
    #expect(store("Two", .public, in: path).count == 1)
    #expect(Disk.text(of: path) == newer)
  }
}
