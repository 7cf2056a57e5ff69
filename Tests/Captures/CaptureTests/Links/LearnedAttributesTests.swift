import ATT
import HaloBluetoothCore
import HaloGATT
import TestSupport
import Testing

@testable import HaloCapture

@Suite struct LearnedAttributesTests {
  private var attributes = LearnedAttributes(keepsValues: true)

  /// The client asks, the server answers.
  private mutating func ask(_ request: String, _ response: String) throws {
    func pdu(_ digits: String) throws -> any ATTPDU {
      try ATTReader.read(hex(digits.filter { $0 != " " }).span.bytes)
    }
    attributes.learn(try pdu(request), try pdu(response))
  }

  /// Battery (1...4): level (2, 3) with its configuration (4).
  private mutating func discover() throws {
    try ask("10 0100 ffff 0028", "11 06 0100 0400 0f18")
    try ask("08 0100 0400 0328", "09 07 0200 12 0300 192a")
    try ask("04 0400 0400", "05 01 0400 0229")
  }

  @Test mutating func aDiscoveryShowsServicesCharacteristicsAndDescriptors() throws {
    try discover()
    #expect(attributes.handles == [1, 2, 3, 4])
    #expect(attributes[1]?.service == BluetoothUUID(0x180F as UInt16))
    #expect(attributes.serviceRanges == [HandleRange(1, 4)])
    #expect(attributes.service(of: 4) == HandleRange(1, 4) && attributes.service(of: 5) == nil)
    #expect(attributes.isValue(3) && !attributes.isValue(2) && !attributes.isValue(4))
    #expect(attributes[3]?.type == BluetoothUUID(0x2A19 as UInt16) && attributes[3]?.value == nil)
    #expect(attributes.declaration(ofValue: 3)?.properties == [.read, .notify])
    #expect(attributes.owner(ofDescriptor: 4) == 3)
  }

  /// The order of questions does not matter, and what is known is not replaced by its type alone.
  @Test mutating func findInformationDoesNotReplaceKnownAttributes() throws {
    try ask("04 0100 0300", "05 01 0100 0028 0200 0328 0300 192a")
    #expect(attributes.isValue(3) && attributes[2]?.value == nil)
    try discover()
    let known = attributes.all
    try ask("04 0100 0300", "05 01 0100 0228 0200 0228 0300 0229")
    #expect(attributes.all == known)
  }

  @Test mutating func aDescriptorBelongsToACharacteristicOfItsService() throws {
    try discover()
    try ask("10 0500 ffff 0028", "11 06 0500 0900 0d18")
    try ask("04 0700 0700", "05 01 0700 0229")
    #expect(attributes.owner(ofDescriptor: 7) == nil)
    // A configuration that is read by its type is no characteristic.
    try ask("08 0800 0800 0229", "09 04 0800 0000")
    #expect(!attributes.isValue(8))
  }

  @Test mutating func valuesAreThoseThatWereReadFirst() throws {
    try discover()
    try ask("0a 0300", "0b 64")
    try ask("0a 0300", "0b 63")
    #expect(attributes[3]?.value == [0x64])
    try ask("08 0100 ffff 002a", "09 04 0b00 5239")
    #expect(attributes[0x0B]?.value == [0x52, 0x39] && attributes.isValue(0x0B))
    attributes = LearnedAttributes(keepsValues: false)
    try discover()
    try ask("0a 0300", "0b 64")
    #expect(attributes[3]?.value == nil && attributes[2]?.value != nil)
  }

  /// A service with a long UUID is known when its declaration is read, one with a short UUID by that of the include, too.
  @Test mutating func anIncludedServiceIsKnown() throws {
    try ask("08 0300 ffff 0228", "09 06 0300 2000 2400")
    try ask("0a 2000", "0b 9ecadc240ee5a9e093f3a3b50100406e")
    #expect(attributes[0x20]?.service?.description == "6E400001-B5A3-F393-E0A9-E50E24DCCA9E")
    try ask("08 0100 ffff 0228", "09 08 0200 1000 1400 0a18")
    #expect(attributes[0x10] == nil)
    attributes.addIncludedServices()
    #expect(attributes[0x10]?.type == GATTUUID.secondaryService)
    #expect(attributes.service(of: 0x12) == HandleRange(0x10, 0x14))
  }

  /// A configuration is recognized by what is written, and its characteristic by the values that it sends.
  @Test func configurationsAreRecognized() {
    var inferred = InferredConfigurations()
    for (handle, value) in [(0x13, "0100"), (0x23, "0000"), (0x33, "0104"), (0x43, "010000")] {
      inferred.noteWrite(AttributeHandle(UInt16(handle)), hex(value).span.bytes)
    }
    #expect(inferred.handles == [0x13] && inferred.contains(0x13))
    #expect(inferred.sender(before: 0x13) == nil)
    for handle in [0x0E, 0x0F, 0x13] as [AttributeHandle] { inferred.noteValue(handle) }
    #expect(inferred.sender(before: 0x13) == 0x0F)
    #expect(inferred.sender(before: 1) == nil)
  }

  @Test mutating func ignoresResponseToAnotherRequest() throws {
    try ask("04 0100 ffff", "11 06 0100 0400 0f18")
    try ask("08 0100 ffff 0328", "01 08 0100 0a")
    try ask("08 0100 ffff 0328", "09 07 0200 12 0000 192a")
    #expect(attributes.handles == [2])
  }
}
