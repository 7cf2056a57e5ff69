import HaloBluetoothCore
import Testing

@Suite struct AssignedNumbersTests {
  @Test func numbersHaveNames() {
    #expect(AssignedNumbers.uuid(0x180F) == "Battery")
    #expect(AssignedNumbers.uuid(0x2A37) == "Heart Rate Measurement")
    #expect(AssignedNumbers.uuid(0x2902) == "Client Characteristic Configuration")
    #expect(AssignedNumbers.uuid(0x0100) == "L2CAP")
    #expect(AssignedNumbers.company(0x0059) == "Nordic Semiconductor ASA")
    #expect(AssignedNumbers.company(0x0000) == "Ericsson AB")
    #expect(AssignedNumbers.appearance(0x00C2) == "Watch: Smartwatch")
    // A subcategory without a name has that of its category.
    #expect(AssignedNumbers.appearance(0x00FF) == "Watch")
    #expect(AssignedNumbers.uuid(0x2AFF + 0x1000) == nil)
    #expect(AssignedNumbers.appearance(0xFFFF) == nil)
  }

  /// A search ends at every number, and finds the first and the last line of the table.
  @Test func everyNumberIsLookedUp() {
    let uuids = (UInt16.min...UInt16.max).count { AssignedNumbers.uuid($0) != nil }
    let companies = (UInt16.min...UInt16.max).count { AssignedNumbers.company($0) != nil }
    #expect(uuids > 1000 && companies > 3000)
    #expect(AssignedNumbers.uuid(0x0001) == "SDP")
    #expect(AssignedNumbers.appearance(0x1444)?.hasPrefix("Outdoor Sports Activity") == true)
  }
}
