import ATT
import GATTClient
import HaloBluetoothCore
import TestBearer
import TestLoop
import TestSupport
import Testing

/// A characteristic by its UUID, without a discovery that the program writes. UUIDs that occur twice are those of
/// trackers, which have Alert Level in two services (hbldh/bleak 139, peplin/pygatt 249), and of remote controls, which
/// have several Reports in one service (h2zero/NimBLE-Arduino 509; also noble/noble 175, tinygo-org/bluetooth 131).
@BluetoothActor
@Suite(.onTheLoop) struct FirstCharacteristicTests {
  let link = FakeBearer()
  static let alertLevel = uuid("2a06")
  static let report = uuid("2a4d")

  init() {
    // Generic Access, Link Loss, Immediate Alert, Human Interface Device.
    link.answer("10 0100 ffff 0028", "11 06 0100 0900 0018 1000 1200 0318 2000 2900 0218")
    link.answer("10 2a00 ffff 0028", "11 06 3000 ffff 1218")
    link.answer("06 0100 ffff 0028 0218", "07 2000 2900")
    link.answer("06 0100 ffff 0028 1218", "07 3000 ffff")
    link.answer("08 0100 ffff 0328", "09 07 0200 02 0300 002a 1100 0a 1200 062a 2100 04 2200 062a")
  }

  private func client() -> GATTClient {
    let client = link.client()
    client.watchesServiceChanges = false
    return client
  }

  /// A handle of one device means something else on another one, or nothing.
  @Test func whatWasDiscoveredOnAnotherLinkIsRefused() async throws {
    let found = try await client().firstCharacteristic(Self.alertLevel)
    let otherLink = FakeBearer()
    let other = otherLink.client()
    let error = GATTError.discoveredElsewhere(found.valueHandle)
    await #expect(throws: error) { try await other.read(found) }
    await #expect(throws: error) { try await other.write([1], to: found) }
    #expect(throws: error) { try other.writeWithoutResponse([1], to: found) }
    await #expect(throws: error) { try await other.discoverDescriptors(of: found) }
    #expect(otherLink.sent == [])
  }

  @Test func itIsTheFirstOfAllServices() async throws {
    let found = try await client().firstCharacteristic(Self.alertLevel)
    #expect(found.uuid == Self.alertLevel && found.properties == [.read, .write])
    #expect(found.declaration == 0x11 && found.valueHandle == 0x12 && found.end == 0x12)
    // Two for the services, one for the characteristics of all of them.
    #expect(link.sent.count == 3)
  }

  @Test func itIsThatOfTheServiceThatIsNamed() async throws {
    link.answer("08 2000 2900 0328", "09 07 2100 04 2200 062a")
    link.answer("08 2300 2900 0328", "01 08 2300 0a")
    let found = try await client().firstCharacteristic(Self.alertLevel, of: uuid("1802"))
    #expect(found.valueHandle == 0x22 && found.end == 0x29)
    #expect(link.sent == ["060100ffff00280218", "08200029000328", "08230029000328"])
  }

  /// It ends before the next one, so that the descriptors of that are not taken for its own.
  @Test func theSearchEndsWithTheNextOne() async throws {
    link.answer("08 3000 ffff 0328", "09 07 3100 02 3200 4a2a 3300 12 3400 4d2a 3700 12 3800 4d2a")
    let found = try await client().firstCharacteristic(Self.report, of: uuid("1812"))
    #expect(found.valueHandle == 0x34 && found.end == 0x36)
    #expect(link.sent.count == 2)
  }

  /// The next one may be in the next response.
  @Test func theNextOneIsAskedFor() async throws {
    link.answer("08 3000 ffff 0328", "09 07 3300 12 3400 4d2a")
    link.answer("08 3500 ffff 0328", "09 07 3700 12 3800 4d2a")
    let found = try await client().firstCharacteristic(Self.report, of: uuid("1812"))
    #expect(found.valueHandle == 0x34 && found.end == 0x36)
  }

  @Test func itIsFoundAtTheLastHandle() async throws {
    link.answer("08 3000 ffff 0328", "09 07 feff 02 ffff 4d2a")
    let found = try await client().firstCharacteristic(Self.report, of: uuid("1812"))
    #expect(found.valueHandle == .last && found.descriptorHandles == nil)
    #expect(link.sent.count == 2)
  }

  /// A service that occurs twice, of which only the second one has it.
  @Test func theOtherServicesOfTheUUIDAreSearched() async throws {
    link.answer("06 0100 ffff 0028 0f18", "07 0400 0500 0a00 0f00")
    link.answer("06 1000 ffff 0028 0f18", "01 06 1000 0a")
    link.answer("08 0400 0500 0328", "01 08 0400 0a")
    link.answer("08 0a00 0f00 0328", "09 07 0b00 12 0c00 192a")
    link.answer("08 0d00 0f00 0328", "01 08 0d00 0a")
    let found = try await client().firstCharacteristic(uuid("2a19"), of: uuid("180f"))
    #expect(found.valueHandle == 0x0C && found.end == 0x0F)
  }

  /// Attributes between primary services belong to secondary ones, which others include.
  @Test func aSecondaryServiceIsPassedOver() async throws {
    link.answer("08 0100 ffff 0328", "09 07 0b00 02 0c00 062a 1100 0a 1200 062a 2100 04 2200 062a")
    #expect(try await client().firstCharacteristic(Self.alertLevel).valueHandle == 0x12)
  }

  /// The same UUID in 16 bytes.
  @Test func aLongFormIsTheSameUUID() async throws {
    link.answer("08 3000 ffff 0328", "09 15 3300 12 3400 fb349b5f8000008000100000 4d2a 0000")
    link.answer("08 3500 ffff 0328", "01 08 3500 0a")
    #expect(try await client().firstCharacteristic(Self.report, of: uuid("1812")).valueHandle == 0x34)
  }

  @Test func whatIsMissingIsNamed() async throws {
    link.answer("08 2000 2900 0328", "01 08 2000 0a")
    link.answer("06 2a00 ffff 0028 0218", "01 06 2a00 0a")
    link.answer("08 2300 ffff 0328", "01 08 2300 0a")
    link.answer("06 0100 ffff 0028 0d18", "01 06 0100 0a")
    link.answer("06 0100 ffff 0028 fb349b5f80000080001000000d180000", "01 06 0100 0a")
    let client = client()
    for (service, text) in [
      ("180d", "the peer has no service 180D (Heart Rate)"),
      (
        "1802",
        "the peer has no characteristic 2A37 (Heart Rate Measurement) in service 1802 (Immediate Alert)"
      ),
      (nil, "the peer has no characteristic 2A37 (Heart Rate Measurement)"),
    ] as [(String?, String)] {
      do throws(GATTError) {
        _ = try await client.firstCharacteristic(uuid("2a37"), of: service.map { uuid($0) })
        Issue.record("found")
      } catch {
        guard case .notFound = error else { throw error }
        #expect("\(error)" == text)
      }
    }
    #expect(!link.isLost)
  }

  /// A server without a service is asked for no characteristic.
  @Test func thereIsNoService() async throws {
    link.answer("10 0100 ffff 0028", "01 10 0100 0a")
    await #expect(throws: GATTError.notFound("characteristic 2A06 (Alert Level)")) {
      try await client().firstCharacteristic(Self.alertLevel)
    }
    #expect(link.sent.count == 1)
  }

  /// Handles that go back, or out of the service, are the server's fault, and end the search.
  @Test(arguments: [
    "09 07 3300 12 3300 4d2a", "09 07 3300 12 3400 4a2a 3400 12 3500 4d2a", "09 07 2100 12 2200 4d2a",
    "09 05 3300 12 3400",
  ]) func aServerThatBreaksTheRulesIsFound(_ answer: String) async throws {
    link.answer("08 3000 ffff 0328", answer)
    do throws(GATTError) {
      _ = try await client().firstCharacteristic(Self.report, of: uuid("1812"))
      Issue.record("found")
    } catch {
      guard case .misbehaved = error else { throw error }
    }
  }

  /// The server says during the search that all has changed: what was found is not used with the old handles.
  @Test func aChangeDuringTheSearchIsNoticed() async throws {
    link.offerServiceChanged()
    let client = link.client()
    link.answer("0a 2200", "0b 01")
    _ = try await client.discoverServices()
    await link.timers.sleep(for: .seconds(5))
    #expect(link.sent.contains("1204000200"))
    link.answer("08 2000 2900 0328", "1d 0300 0100 ffff", "09 07 2100 04 2200 062a 2300 04 2400 192a")
    do throws(GATTError) {
      let found = try await client.firstCharacteristic(Self.alertLevel, of: uuid("1802"))
      await #expect(throws: GATTError.servicesChanged) { try await client.read(found) }
    } catch {
      #expect(error == .servicesChanged)
    }
    #expect(link.sent.filter { $0 == "0a2200" }.isEmpty)
  }
}
