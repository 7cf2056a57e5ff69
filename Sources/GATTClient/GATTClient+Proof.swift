import ATT
import HaloBluetoothCore
import HaloGATT

/// Whether attributes of an earlier link are still where they were, each with one request.
extension GATTClient {
  /// Whether the attribute at a handle has this type. Nothing is read or written, and no permission is needed.
  ///
  /// - Returns: false also if the server refuses to answer, as one does that considers this client out of date (Vol 3,
  ///   Part G, 2.5.2.1)
  package func holds(_ type: BluetoothUUID, at handle: AttributeHandle) async throws(GATTError) -> Bool {
    do throws(GATTError) {
      return try await run { FindAttributeType(handle: handle) } == type
    } catch .att(.refused), .misbehaved {
      return false
    }
  }

  /// The hash of all services, characteristics and descriptors of the server, 16 bytes (Vol 3, Part G, 7.3). It changes
  /// with each of them.
  ///
  /// - Returns: nil from servers that have none, which is usual
  package func databaseHash() async throws(GATTError) -> [UInt8]? {
    do throws(GATTError) {
      let value = try await readFirst(uuid: GATTUUID.databaseHash)
      return value?.count == 16 ? value : nil
    } catch .att(.refused) {
      return nil
    }
  }
}
