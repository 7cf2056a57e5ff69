import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@testable import RingLink

/// What a user means, and which of several rings it is.
@BluetoothActor
@Suite struct RingSelectorTests {
  private func device(
    _ number: UInt64, _ name: String = "R02_341C", rssi: Int8? = -60, kind: BluetoothAddress.Kind = .random
  ) throws -> Advertisement {
    var collector = AdvertisementCollector()
    let report = AdvertisingReport(
      address: BluetoothAddress(number, kind), eventType: [.legacy, .connectable, .scannable], rssi: rssi,
      data: [UInt8(name.utf8.count + 1), 9] + Array(name.utf8))
    let advertisement = collector.receive(report, at: .zero)
    return try #require(advertisement)
  }

  @Test func textIsAnAddressOrAName() {
    let value: UInt64 = 0xC011_2233_A1B2
    #expect(RingSelector("C0:11:22:33:A1:B2") == .address(value, nil))
    #expect(RingSelector("C0-11-22-33-A1-B2") == .address(value, nil))
    #expect(RingSelector("C0:11:22:33:A1:B2/random") == .address(value, .random))
    #expect(RingSelector("C0:11:22:33:A1:B2/public") == .address(value, .public))
    // Twelve digits may be a name.
    #expect(RingSelector("C0112233A1B2") == .name("C0112233A1B2"))
    #expect(RingSelector("R02_341C") == .name("R02_341C") && RingSelector("a-b") == .name("a-b"))
  }

  @Test func advertisementsFit() throws {
    let ring = try device(7)
    #expect(RingSelector.anyRing.fit(ring) == .name)
    #expect(try RingSelector.anyRing.fit(device(7, "SE")) == .ambiguousName)
    #expect(try RingSelector.anyRing.fit(device(7, "lamp")) == nil)
    #expect(RingSelector.name("r02_341c").fit(ring) == .service && RingSelector.name("R02").fit(ring) == nil)
    #expect(
      RingSelector.address(7, nil).fit(ring) == .service && RingSelector.address(8, nil).fit(ring) == nil)
    #expect(RingSelector.address(7, .random).fit(ring) == .service)
    #expect(RingSelector.address(7, .public).fit(ring) == nil)
  }

  @Test func matchesRememberedRing() {
    let address = BluetoothAddress(7, .random)
    func isMeant(_ selector: RingSelector) -> Bool { selector.isMeant(name: "R02_341C", address: address) }
    #expect(isMeant(.anyRing) && isMeant(.name("r02_341c")) && !isMeant(.name("R02")))
    #expect(isMeant(.address(7, nil)) && isMeant(.address(7, .random)))
    #expect(!isMeant(.address(8, nil)) && !isMeant(.address(7, .public)))
    #expect(!RingSelector.name("x").isMeant(name: nil, address: address))
    #expect(!RingSelector.address(7, nil).isMeant(name: "R02_341C", address: nil))
  }

  @Test func notFoundDescriptionIsNamed() {
    #expect(RingSelector.anyRing.notFoundDescription == "no ring was found")
    #expect(
      RingSelector.name("a\u{1B}b").notFoundDescription == "no device named \("a\u{1B}b".printable) was found"
    )
    #expect(
      RingSelector.address(0xC011_2233_A1B2, nil).notFoundDescription
        == "no device with the address C0:11:22:33:A1:B2 was found")
    #expect(
      RingSelector.address(0xC011_2233_A1B2, .random).notFoundDescription
        == "no device with the address C0:11:22:33:A1:B2 (random) was found")
  }

  private func choice(_ rings: [Advertisement], _ known: UInt64...) -> UInt64? {
    let known = Set(known.map { PeerIdentity(BluetoothAddress($0, .random)) })
    return RingFinder.choice(among: rings, known: known)?.address.value
  }

  /// The only one, the only known one, or the one that is nearer by 20 dB.
  @Test func oneOfSeveralIsChosen() throws {
    let near = try device(1, rssi: -40)
    let far = try device(2, rssi: -60)
    let farther = try device(3, rssi: -61)
    let unknown = try device(4, rssi: nil)
    #expect(choice([]) == nil && choice([far]) == 2 && choice([far], 9) == 2)
    #expect(choice([near, far]) == 1 && choice([far, near]) == 1 && choice([far, farther]) == nil)
    #expect(choice([far, near, farther]) == 1)
    #expect(try choice([device(1, rssi: -41), far]) == nil)
    // A strength that is not known is the least.
    #expect(try choice([unknown, far]) == 2 && choice([unknown, device(5, rssi: -109)]) == nil)
    #expect(try choice([unknown, device(5, rssi: -108)]) == 5)
    #expect(choice([near, far], 2) == 2 && choice([near, far, farther], 2, 3) == nil)
  }
}
