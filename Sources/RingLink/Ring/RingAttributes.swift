import ATT
import GATTClient
import HaloBluetoothCore
import HaloGATT

/// What is discovered and read to open a ring.
extension GATTClient {
  /// The characteristics that take and send frames; nil if this is no ring.
  func commandCharacteristics() async throws(StackError) -> (
    write: Characteristic, notify: Characteristic
  )? {
    guard let service = try await firstService(RingGATT.commandService) else { return nil }
    let all = try await discoverCharacteristics(of: service)
    guard let write = all.first(where: { $0.uuid == RingGATT.commandWrite }),
      let notify = all.first(where: { $0.uuid == RingGATT.commandNotify })
    else { return nil }
    return (write, notify)
  }

  /// The text of the first characteristic with a UUID; nil if there is none, or none that can be read.
  func text(_ uuid: BluetoothUUID) async throws(StackError) -> String? {
    do throws(StackError) {
      return try await readFirst(uuid: uuid).map { String(printable: $0) }
    } catch let error where error.code == .refused {
      return nil
    }
  }

  /// The text of a characteristic; nil if the peer lists it and will not have it read, as some do.
  func text(of characteristic: Characteristic) async throws(StackError) -> String? {
    do throws(StackError) {
      return String(printable: try await read(characteristic))
    } catch let error where error.code == .refused {
      return nil
    }
  }

  /// Whether a layout of an earlier link is true, with one request that changes nothing.
  func holds(_ layout: RingLayout) async throws(StackError) -> Bool {
    if let hash = layout.databaseHash { return try await databaseHash() == hash }
    return try await attributeTypeMatches(RingGATT.commandNotify, at: layout.commandNotify.valueHandle)
  }
}
