import HaloBluetoothCore
import RingLink
import Testing

/// Names and UUIDs by which rings are known (ring reference, 0.2, 1.1 and 1.2).
struct IdentityTests {
  /// An R that no letter precedes, 0 or 1, a digit, perhaps one letter, and an underscore, in any case.
  @Test(
    arguments: [
      ("R00_", true), ("R19_", true), ("R09A_", true), ("R09Z_", true), ("R1R09_", true),
      ("my R10_ring", true),
      ("R/0_", false), ("R20_", false), ("R0:_", false), ("R1/_", false), ("R09@_", false), ("R09[_", false),
      ("R09a_", true), ("XR02_", false), ("R09", false), ("R09A", false), ("R09AB_", false), ("R0_", false),
      ("r09_", true),
      ("RR", false),
    ])
  func aModelIsPartOfAName(_ name: String, _ isOne: Bool) {
    #expect(RingIdentity.matches(name: name, services: []) == (isOne ? .name : nil))
  }

  /// The maker's glasses have the bulk service, too (discovery of an AIMB-G1 by K-Site-Capture; the vendor's SDK for HeyCyan).
  @Test(arguments: ["M02C_1A2B", "CY01", "cy01_77", "AIMB-G1"]) func doesNotMatchGlasses(_ name: String) {
    #expect(RingIdentity.matches(name: name, services: [RingGATT.bulkService]) == nil)
    #expect(
      RingIdentity.matches(name: name, services: [RingGATT.unknownService], companies: [RingIdentity.company])
        == nil)
  }

  /// Without the command service or a ring's name, the bulk service proves nothing: glasses have it, too.
  @Test func bulkServiceAloneDoesNotIdentifyRing() {
    #expect(RingIdentity.matches(name: nil, services: [RingGATT.bulkService]) == nil)
    #expect(RingIdentity.matches(name: "lamp", services: [RingGATT.bulkService]) == nil)
    #expect(RingIdentity.matches(name: "Colmi R02", services: [RingGATT.bulkService]) == .service)
    #expect(RingIdentity.matches(name: "H59_AB12", services: [RingGATT.bulkService]) == .possible)
    #expect(
      RingIdentity.matches(name: nil, services: [RingGATT.bulkService, RingGATT.unknownService]) == .possible)
    #expect(RingIdentity.matches(name: "Colmi R02", services: []) == .name)
    #expect(RingIdentity.matches(name: nil, services: [RingGATT.unknownService]) == .possible)
  }

  @Test(
    arguments: [
      ("RT02", .rt), ("RT09_3.10.21_251107", .rt), ("RT03CR_1.00.02_260319", .rt),
      ("RY03_3.00.10_240809", .ry), ("RT92", .rt), ("RT/2", .unknown), ("RT:2", .unknown), ("RY09", .ry),
      ("RY/9", .unknown),
      ("RY:9", .unknown), ("RT11C", .rt), ("RT11CR", .rt11cr), ("R02_3.00", .rf03), ("R99_V3.0", .rf03),
      ("R/2_3.00", .unknown), ("R0:_3.00", .unknown), ("R02_3.01", .unknown), ("R02_V3.1", .unknown),
      ("R02__3.00", .unknown), ("X02_3.00", .unknown), ("R0", .unknown), ("RY", .unknown),
    ] as [(String, RingFamily)])
  func aRevisionBeginsWithItsFamily(_ revision: String, _ family: RingFamily) {
    #expect(RingFirmware(firmwareRevision: revision, hardwareRevision: nil).family == family)
    #expect(RingFirmware(firmwareRevision: "?", hardwareRevision: revision).family == family)
  }

  @Test func familiesHaveNamesAndEncodings() {
    #expect(RingFamily.allCases.map(\.description) == ["RF03", "RY", "RT", "RT11CR", "unknown family"])
    #expect(
      RingFamily.allCases.map(\.accelerometerEncoding) == [.twelveBit, nil, .sixteenBit, .sixteenBit, nil])
    #expect(AccelerometerEncoding.allCases.map(\.countsPerG) == [512, 8192])
  }

  @Test func servicesAndCharacteristicsAreThoseOfTheReference() {
    let uuids: [(BluetoothUUID, String)] = [
      (RingGATT.commandService, "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E"),
      (RingGATT.commandWrite, "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"),
      (RingGATT.commandNotify, "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"),
      (RingGATT.bulkService, "DE5BF728-D711-4E47-AF26-65E3012A5DC7"),
      (RingGATT.bulkWrite, "DE5BF72A-D711-4E47-AF26-65E3012A5DC7"),
      (RingGATT.bulkNotify, "DE5BF729-D711-4E47-AF26-65E3012A5DC7"),
      // Device Information (Assigned Numbers, 3.4 and 3.8).
      (RingGATT.deviceInformationService, "180A"), (RingGATT.systemID, "2A23"),
      (RingGATT.modelNumber, "2A24"),
      (RingGATT.serialNumber, "2A25"), (RingGATT.firmwareRevision, "2A26"),
      (RingGATT.hardwareRevision, "2A27"),
      (RingGATT.softwareRevision, "2A28"),
    ]
    for (uuid, text) in uuids { #expect(uuid.description == text) }
    #expect(
      uuids.map(\.0).filter(RingGATT.takesCommands) == [RingGATT.commandWrite, RingGATT.bulkWrite])
  }
}
