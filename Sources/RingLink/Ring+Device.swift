import BluetoothCore
import GATTClient

extension Ring {
  /// How full the battery is (ring reference, 4.2).
  public func battery() async throws(RingError) -> RingBattery {
    try await request(CommandTable.battery)
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
