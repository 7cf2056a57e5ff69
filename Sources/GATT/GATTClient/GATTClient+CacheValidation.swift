import ATT
import HaloBluetoothCore

/// Checks, each with one request, that attributes of an earlier link are still where they were.
extension GATTClient {
  /// Whether the attribute at a handle has this type. Nothing is read or written, and no permission is needed.
  ///
  /// - Returns: false also if the server refuses to answer, as one does that considers this client out of date (Vol 3,
  ///   Part G, 2.5.2.1)
  package func attributeTypeMatches(_ type: BluetoothUUID, at handle: AttributeHandle)
    async throws(StackError) -> Bool
  {
    do throws(StackError) {
      return try await run { FindAttributeType(handle: handle) } == type
    } catch let error where error.code == .refused || error.code == .misbehaved {
      return false
    }
  }

  /// The hash of all services, characteristics and descriptors of the server, 16 bytes (Vol 3, Part G, 7.3). It changes
  /// with each of them.
  ///
  /// - Returns: nil from servers that have none, which is usual
  package func databaseHash() async throws(StackError) -> [UInt8]? {
    do throws(StackError) {
      let value = try await readFirst(uuid: GATTUUID.databaseHash)
      return value?.count == 16 ? value : nil
    } catch let error where error.code == .refused {
      return nil
    }
  }
}
