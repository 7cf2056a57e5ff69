import Dispatch
import HaloBluetoothCore
import TestSupport
import Testing

@testable import CoreBluetooth

@Suite struct PeripheralStoreTests {
  /// The picker stores the name of a ring, and the manager that connects to it is made at once: it knows the name, however
  /// long writing takes.
  @Test func aNameThatIsBeingWrittenIsKnown() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let peer = PeerIdentity(BluetoothAddress(0xC011_2233_A1B2, .random))
    let picker = PeripheralStore(folder: folder.path)
    #expect(picker.name(of: peer) == nil)
    let isReading = DispatchSemaphore(value: 0)
    PeripheralStore.write { isReading.wait() }
    picker.remember(peer, name: "R02_341C")
    isReading.signal()
    #expect(PeripheralStore(folder: folder.path).name(of: peer) == "R02_341C")
  }
}
