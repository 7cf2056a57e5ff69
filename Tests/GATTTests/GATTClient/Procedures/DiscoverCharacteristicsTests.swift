import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct DiscoverCharacteristicsTests {
  @Test func eachEndsBeforeTheNext() {
    let ending = run(
      DiscoverCharacteristics(in: service(0x10, 0x20)),
      [
        Exchange("08 1000 2000 0328", "09 07 1100 0c 1200 002a 1400 10 1500 012a"),
        Exchange("08 1600 2000 0328", "09 15 1800 02 1900 9ecadc240ee5a9e093f3a3b5f0ff406e"),
        Exchange("08 1a00 2000 0328", "01 08 1a00 0a"),
      ])
    #expect(
      ending?.output == [
        Characteristic(
          uuid: uuid("2a00"), properties: [.write, .writeWithoutResponse], declaration: 0x11,
          valueHandle: 0x12, end: 0x13),
        Characteristic(
          uuid: uuid("2a01"), properties: .notify, declaration: 0x14, valueHandle: 0x15, end: 0x17),
        Characteristic(
          uuid: uuid("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e"), properties: .read, declaration: 0x18,
          valueHandle: 0x19, end: 0x20),
      ])
    #expect(
      ending?.output?.map(\.descriptorHandles) == [range(0x13, 0x13), range(0x16, 0x17), range(0x1A, 0x20)])
  }

  @Test func theLastHandleEndsTheSearch() {
    let ending = run(
      DiscoverCharacteristics(in: service(0xFFFD, 0xFFFF)),
      [Exchange("08 fdff ffff 0328", "09 07 feff 02 ffff 002a")])
    #expect(ending?.output?.first?.valueHandle == .last)
    #expect(ending?.output?.first?.descriptorHandles == nil)
  }

  /// A service whose range is upside down can't be asked for: no request may start above its end.
  @Test func anImpossibleServiceIsNotAsked() {
    #expect(run(DiscoverCharacteristics(in: service(0x20, 0x10)), [])?.output == [])
    #expect(run(DiscoverCharacteristics(in: service(0, 0x10)), [])?.output == [])
    #expect(run(FindIncludedServices(in: service(0x20, 0x10).handles), [])?.output == [])
  }

  @Test(arguments: [
    ("declaration outside", "09 07 2100 02 2200 002a"),
    ("declaration before", "09 07 0f00 02 1100 002a"),
    ("declaration zero", "09 07 0000 02 1100 002a"),
    ("value at its declaration", "09 07 1100 02 1100 002a"),
    ("value before its declaration", "09 07 1100 02 1000 002a"),
    ("value outside its service", "09 07 1100 02 2100 002a"),
    ("value zero", "09 07 1100 02 0000 002a"),
    ("twice", "09 07 1100 02 1200 002a 1100 02 1200 002a"),
    ("going back", "09 07 1500 02 1600 002a 1100 02 1200 002a"),
    ("at the value of the one before", "09 07 1100 02 1200 002a 1200 02 1300 002a"),
    ("UUID of three bytes", "09 08 1100 02 1200 002a00"),
    ("cut", "09 04 1100 02 12"),
  ])
  func hostileDeclarationsEndIt(_ name: String, _ response: String) {
    let ending = run(
      DiscoverCharacteristics(in: service(0x10, 0x20)), [Exchange("08 1000 2000 0328", response)])
    #expect(ending?.isMisbehaviour == true)
  }

  @Test func anotherErrorIsNotAnEmptyTable() {
    let ending = run(
      DiscoverCharacteristics(in: service(0x10, 0x20)), [Exchange("08 1000 2000 0328", "01 08 1000 05")])
    #expect(ending?.error == .refused(refusal(0x08, 0x10, 0x05)))
    #expect(ending?.error?.description.contains("Insufficient") == true)
  }
}

@Suite struct DiscoverDescriptorsTests {
  private func characteristic(_ value: UInt16, _ end: UInt16) -> Characteristic {
    Characteristic(
      uuid: uuid("2a00"), properties: .notify, declaration: AttributeHandle(value - 1),
      valueHandle: AttributeHandle(value), end: AttributeHandle(end))
  }

  @Test func descriptorsOfBothSizes() {
    let ending = run(
      DiscoverDescriptors(of: characteristic(0x12, 0x15)),
      [
        Exchange("04 1300 1500", "05 01 1300 0229 1400 0129"),
        Exchange("04 1500 1500", "05 02 1500 9ecadc240ee5a9e093f3a3b5f0ff406e"),
      ])
    #expect(
      ending?.output == [
        Descriptor(uuid: uuid("2902"), handle: 0x13), Descriptor(uuid: uuid("2901"), handle: 0x14),
        Descriptor(uuid: uuid("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e"), handle: 0x15),
      ])
  }

  @Test func sendsNoRequestForEmptyDescriptorRange() {
    #expect(run(DiscoverDescriptors(of: characteristic(0x12, 0x12)), [])?.output == [])
    #expect(run(DiscoverDescriptors(of: characteristic(0xFFFF, 0xFFFF)), [])?.output == [])
  }

  @Test(arguments: [
    "05 01 1600 0229", "05 01 1200 0229", "05 01 0000 0229", "05 01 1400 0229 1300 0129",
    "05 01 1300 0229 1300 0229",
  ])
  func descriptorsOutsideEndIt(_ response: String) {
    let ending = run(
      DiscoverDescriptors(of: characteristic(0x12, 0x15)), [Exchange("04 1300 1500", response)])
    #expect(ending?.isMisbehaviour == true)
  }

  @Test func onlyAttributeNotFoundEndsWithSuccess() {
    let ask = characteristic(0x12, 0x15)
    #expect(run(DiscoverDescriptors(of: ask), [Exchange("04 1300 1500", "01 04 1300 0a")])?.output == [])
    #expect(
      run(DiscoverDescriptors(of: ask), [Exchange("04 1300 1500", "01 04 1300 01")])?.error
        == .refused(refusal(0x04, 0x13, 0x01)))
  }
}
