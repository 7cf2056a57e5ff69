import BluetoothCore
import GATTClient

extension Ring {
  /// How full the battery is (ring reference, 4.2).
  public func battery() async throws(RingError) -> RingBattery {
    try await request(CommandTable.battery)
  }

  /// What the ring asks of its host, and a part of what it can do (ring reference, 4.4).
  ///
  /// - Returns: nil from rings that do not know the question; the oldest are not asked
  public func deviceSupport() async throws(RingError) -> DeviceSupport? {
    guard firmware.family != .rf03 else { return nil }
    do throws(RingError) {
      return try await request(CommandTable.deviceSupport)
    } catch .refused {
      return nil
    } catch .notAnswered {
      return nil
    }
  }

  /// What the ring says of itself in its Device Information service.
  public func information() async throws(RingError) -> RingInformation {
    do throws(GATTError) {
      var information = RingInformation()
      guard let service = try await client.firstService(RingGATT.deviceInformationService) else {
        return information
      }
      for characteristic in try await client.discoverCharacteristics(of: service) {
        guard let field = RingInformation.fields[characteristic.uuid] else { continue }
        information[keyPath: field] = try await client.text(of: characteristic)
      }
      firmware = information.revisions
      return information
    } catch {
      throw RingError(error)
    }
  }
}
