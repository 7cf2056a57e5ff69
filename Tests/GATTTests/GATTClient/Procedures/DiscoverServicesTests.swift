import ATT
@testable import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct DiscoverAllServicesTests {
  @Test func servicesOfBothSizesUntilAttributeNotFound() {
    let ending = run(
      DiscoverAllServices(),
      [
        Exchange("10 0100 ffff 0028", "11 06 0100 0500 0018 0600 0900 0118"),
        Exchange(
          "10 0a00 ffff 0028", "11 14 0a00 1400 9ecadc240ee5a9e093f3a3b5f0ff406e"),
        Exchange("10 1500 ffff 0028", "01 10 1500 0a"),
      ])
    #expect(
      ending?.output == [
        Service(uuid: uuid("1800"), handles: range(1, 5)),
        Service(uuid: uuid("1801"), handles: range(6, 9)),
        Service(uuid: uuid("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e"), handles: range(10, 20)),
      ])
  }

  /// Asking for what follows 0xFFFF would wrap to zero.
  @Test func aServiceThatEndsAtTheLastHandleIsTheLast() {
    let ending = run(
      DiscoverAllServices(), [Exchange("10 0100 ffff 0028", "11 06 0100 ffff 0018")])
    #expect(ending?.output?.map(\.handles) == [.all])
  }

  @Test func noServicesAtAllIsSuccess() {
    let ending = run(DiscoverAllServices(), [Exchange("10 0100 ffff 0028", "01 10 0100 0a")])
    #expect(ending?.output == [])
  }

  @Test func theHandleInTheErrorDoesNotMatter() {
    let ending = run(DiscoverAllServices(), [Exchange("10 0100 ffff 0028", "01 10 0000 0a")])
    #expect(ending?.output == [])
  }

  @Test(arguments: [UInt8(0x01), 0x05, 0x06, 0x0E, 0x10, 0x80, 0x00])
  func onlyAttributeNotFoundEndsWithSuccess(_ code: UInt8) {
    let ending = run(
      DiscoverAllServices(),
      [
        Exchange("10 0100 ffff 0028", "11 06 0100 0500 0018"),
        Exchange("10 0600 ffff 0028", "01 10 0600 " + Hex.string([code])),
      ])
    #expect(ending?.error == .refused(refusal(0x10, 0x0006, code)))
  }

  @Test(arguments: [
    ("handle zero", "11 06 0000 0500 0018"),
    ("ends before it starts", "11 06 0500 0400 0018"),
    ("overlaps", "11 06 0100 0500 0018 0500 0900 0118"),
    ("does not grow", "11 06 0100 0500 0018 0100 0500 0018"),
    ("goes back", "11 06 0600 0900 0018 0100 0500 0118"),
    ("behind the last handle", "11 06 0100 ffff 0018 0100 0500 0118"),
    ("UUID of three bytes", "11 07 0100 0500 001800"),
    ("UUID of four bytes", "11 08 0100 0500 00180000"),
    ("no UUID", "11 04 0100 0500"),
  ])
  func hostileEntriesEndIt(_ name: String, _ response: String) {
    let ending = run(DiscoverAllServices(), [Exchange("10 0100 ffff 0028", response)])
    #expect(ending?.isMisbehaviour == true)
  }

  @Test func anEntryThatRepeatsInTheNextResponseEndsIt() {
    let ending = run(
      DiscoverAllServices(),
      [
        Exchange("10 0100 ffff 0028", "11 06 0100 0500 0018"),
        Exchange("10 0600 ffff 0028", "11 06 0100 0500 0018"),
      ])
    #expect(ending?.isMisbehaviour == true)
  }

  @Test(arguments: ["11", "11 00", "11 06", "11 06 0100 05", "11 03 010005"])
  func malformedResponseEndsDiscovery(_ response: String) {
    let ending = run(DiscoverAllServices(), [Exchange("10 0100 ffff 0028", response)])
    #expect(ending?.error?.code == .malformed)
  }

  /// Tens of thousands of tiny services: the procedure gives up long before the handles do.
  @Test func aServerThatNeverEndsIsGivenUp() {
    var procedure = DiscoverAllServices()
    var step = procedure.start()
    var requests = 0
    while case .request(let request as ATTReadByGroupTypeRequest) = step {
      requests += 1
      let tiny = HandleRange(request.range.start, request.range.start)
      step = procedure.next(
        .success(ATTReadByGroupTypeResponse([ATTGroupAndValue(group: tiny, value: [0, 0x18])])))
    }
    guard case .failed(let error) = step, error.code == .misbehaved else {
      Issue.record("\(step)")
      return
    }
    #expect(requests < 5000)
  }
}

@Suite struct DiscoverServicesByUUIDTests {
  @Test func theServiceIsFoundInOneRoundTripAndAConfirmation() {
    let ending = run(
      DiscoverServicesByUUID(uuid("180a")),
      [
        Exchange("06 0100 ffff 0028 0a18", "07 0600 0900"),
        Exchange("06 0a00 ffff 0028 0a18", "01 06 0a00 0a"),
      ])
    #expect(ending?.output == [Service(uuid: uuid("180a"), handles: range(6, 9))])
  }

  @Test func longUUIDsFillTheSmallestPDU() {
    let ending = run(
      DiscoverServicesByUUID(uuid("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e")),
      [
        Exchange("06 0100 ffff 0028 9ecadc240ee5a9e093f3a3b5f0ff406e", "07 1000 1900 2000 ffff")
      ])
    #expect(ending?.output?.map(\.handles) == [range(0x10, 0x19), range(0x20, 0xFFFF)])
  }

  /// A server may have stored the short UUID in 16 bytes, and compares bytes, as that of BlueZ's /TP/GAD/CL/BV-02-C-2 does.
  @Test(arguments: [("07 0600 0900", [range(6, 9)]), ("01 06 0100 0a", [])] as [(String, [HandleRange])])
  func aShortUUIDIsSearchedForInItsLongForm(_ answer: String, _ handles: [HandleRange]) {
    let ending = run(
      DiscoverServicesByUUID(uuid("180a"), limit: 1),
      [
        Exchange("06 0100 ffff 0028 0a18", "01 06 0100 0a"),
        Exchange("06 0100 ffff 0028 fb349b5f80000080001000000a180000", answer),
      ])
    #expect(ending?.output?.map(\.handles) == handles)
  }

  @Test func onlyAttributeNotFoundMeansNoService() {
    let long = "6e40fff0-b5a3-f393-e0a9-e50e24dcca9e"
    #expect(
      run(
        DiscoverServicesByUUID(uuid(long)),
        [Exchange("06 0100 ffff 0028 9ecadc240ee5a9e093f3a3b5f0ff406e", "01 06 0100 0a")])?.output == [])
    #expect(
      run(
        DiscoverServicesByUUID(uuid("180a")), [Exchange("06 0100 ffff 0028 0a18", "01 06 0100 0f")])?.error
        == .refused(refusal(0x06, 1, 0x0F)))
  }

  @Test(arguments: ["07 0000 0900", "07 0900 0600", "07 0600 0900 0700 0a00", "07 0600 ffff 0100 0200"])
  func hostileRangesEndIt(_ response: String) {
    let ending = run(
      DiscoverServicesByUUID(uuid("180a")), [Exchange("06 0100 ffff 0028 0a18", response)])
    #expect(ending?.isMisbehaviour == true)
  }
}

@Suite struct FindIncludedServicesTests {
  @Test func shortUUIDsStandInTheDeclaration() {
    let ending = run(
      FindIncludedServices(in: service(0x10, 0x20).handles),
      [
        Exchange("08 1000 2000 0228", "09 08 1100 3000 3500 0f18 1200 4000 4500 0a18"),
        Exchange("08 1300 2000 0228", "01 08 1300 0a"),
      ])
    #expect(
      ending?.output == [
        IncludedService(
          declaration: 0x0011, service: Service(uuid: uuid("180f"), handles: range(0x30, 0x35))),
        IncludedService(
          declaration: 0x0012, service: Service(uuid: uuid("180a"), handles: range(0x40, 0x45))),
      ])
  }

  /// A 128-bit UUID does not fit into the declaration: it is read from the service itself.
  @Test func longUUIDsAreReadFromTheService() {
    let ending = run(
      FindIncludedServices(in: service(0x10, 0x20).handles),
      [
        Exchange("08 1000 2000 0228", "09 06 1100 3000 3500 1200 4000 4500"),
        Exchange("0a 3000", "0b 9ecadc240ee5a9e093f3a3b5f0ff406e"),
        Exchange("0a 4000", "0b 0f18"),
        Exchange("08 1300 2000 0228", "01 08 1300 0a"),
      ])
    #expect(
      ending?.output?.map(\.service) == [
        Service(uuid: uuid("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e"), handles: range(0x30, 0x35)),
        Service(uuid: uuid("180f"), handles: range(0x40, 0x45)),
      ])
  }

  /// Includes that form a ring: what a service includes is told, and not followed.
  @Test func aServiceThatIncludesItselfIsNotFollowed() {
    let ending = run(
      FindIncludedServices(in: service(0x10, 0x11).handles),
      [Exchange("08 1000 1100 0228", "09 08 1100 1000 1100 0a18")])
    #expect(ending?.output?.map(\.service.handles) == [range(0x10, 0x11)])
  }

  @Test(arguments: [
    ("outside", "09 08 2100 3000 3500 0f18"), ("before", "09 08 0f00 3000 3500 0f18"),
    ("twice", "09 08 1100 3000 3500 0f18 1100 3000 3500 0f18"),
    ("included range upside down", "09 08 1100 3500 3000 0f18"),
    ("included handle zero", "09 08 1100 0000 3000 0f18"),
    ("five bytes", "09 07 1100 3000 3500 0f"), ("no value", "09 02 1100"),
  ])
  func hostileDeclarationsEndIt(_ name: String, _ response: String) {
    let ending = run(
      FindIncludedServices(in: service(0x10, 0x20).handles), [Exchange("08 1000 2000 0228", response)])
    #expect(ending?.isMisbehaviour == true)
  }

  @Test func failsWhenIncludedServiceUUIDIsUnreadable() {
    let find = Exchange("08 1000 2000 0228", "09 06 1100 3000 3500")
    let odd = run(
      FindIncludedServices(in: service(0x10, 0x20).handles), [find, Exchange("0a 3000", "0b 0f")])
    #expect(odd?.isMisbehaviour == true)
    // Attribute Not Found here does not mean that all is found.
    let refused = run(
      FindIncludedServices(in: service(0x10, 0x20).handles), [find, Exchange("0a 3000", "01 0a 3000 0a")])
    #expect(refused?.error == .refused(refusal(0x0A, 0x30, 0x0A)))
  }
}

func refusal(_ request: UInt8, _ handle: UInt16, _ code: UInt8) -> ATTErrorResponse {
  ATTErrorResponse(
    request: ATTOpcode(rawValue: request), handle: AttributeHandle(handle),
    code: ATTErrorCode(rawValue: code))
}
