import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

@testable import RingLink

struct RingHandlesTests {
  private static let battery: [UInt8] = RingFrame(RingCommand(rawValue: 0x03)).bytes
  /// A bulk frame without payload, whose CRC is that of nothing.
  private static let bulk: [UInt8] = [0xBC, 0x27, 0x00, 0x00, 0xFF, 0xFF]

  /// The handles of a ring of the RT11CR family.
  private func handles() -> RingHandles {
    var handles = RingHandles()
    handles.addWrite(Self.battery, to: 0x0010, at: 0)
    handles.addNotification(Self.battery, of: 0x0012)
    return handles
  }

  private func type(of handle: AttributeHandle, in attributes: [ServerAttribute]) -> BluetoothUUID? {
    attributes.first { $0.handle == handle }?.type
  }

  @Test func framesShowTheCommandService() throws {
    let all = try #require(handles().attributes)
    #expect(all.map(\.handle.rawValue) == [0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13])
    #expect(all[0].value == RingGATT.commandService.wireBytes)
    #expect(type(of: 0x0010, in: all) == RingGATT.commandWrite)
    #expect(type(of: 0x0012, in: all) == RingGATT.commandNotify)
    #expect(type(of: 0x0013, in: all) == GATTUUID.clientCharacteristicConfiguration)
  }

  @Test func bulkFramesShowTheBulkService() throws {
    var handles = handles()
    handles.addWrite(Self.bulk, to: 0x0016, at: 0)
    handles.addNotification(Self.bulk, of: 0x0018)
    // The rest of a longer frame looks like anything.
    handles.addNotification([1, 2, 3], of: 0x0018)
    let all = try #require(handles.attributes)
    #expect(type(of: 0x0016, in: all) == RingGATT.bulkWrite)
    #expect(type(of: 0x0018, in: all) == RingGATT.bulkNotify)
    #expect(Set(all.map(\.handle)).count == all.count)
  }

  @Test func revisionsThatWereReadShowDeviceInformation() throws {
    var handles = handles()
    handles.addRead(Array("RT11CR_1.00.08_250514".utf8), of: 0x0020)
    handles.addRead(Array("RT11CR_V1.0".utf8), of: 0x001E)
    handles.addRead([0xFF, 0xFE, 0xFD, 0xFC], of: 0x0022)
    let all = try #require(handles.attributes)
    #expect(type(of: 0x0020, in: all) == RingGATT.firmwareRevision)
    #expect(type(of: 0x001E, in: all) == RingGATT.hardwareRevision)
    #expect(type(of: 0x0022, in: all) == nil)
  }

  @Test func findsNoRingInOtherTraffic() {
    var other = RingHandles()
    other.addWrite([1, 2, 3], to: 0x0010, at: 0)
    other.addNotification([4, 5, 6], of: 0x0012)
    #expect(other.attributes == nil)
    // Both directions on one handle, and handles without room for a declaration.
    var same = RingHandles()
    same.addWrite(Self.battery, to: 0x0010, at: 0)
    same.addNotification(Self.battery, of: 0x0010)
    #expect(same.attributes == nil)
    var low = RingHandles()
    low.addWrite(Self.battery, to: 0x0001, at: 0)
    low.addNotification(Self.battery, of: 0x0003)
    #expect(low.attributes == nil)
  }

  @Test func theNumberOfHandlesIsBounded() {
    var many = RingHandles()
    for handle in UInt16(0x0100)..<0x0200 {
      many.addWrite([1], to: AttributeHandle(handle), at: 0)
      many.addNotification([1], of: AttributeHandle(handle))
    }
    many.addWrite(Self.battery, to: 0x0010, at: 0)
    many.addNotification(Self.battery, of: 0x0012)
    #expect(many.attributes == nil)
  }

  @Test func theClockIsTheFirstOneThatWasSet() throws {
    var handles = handles()
    #expect(handles.clock == nil)
    let frame = hex("01 25 12 15 13 45 00 00 00 00 00 00 00 00 00")
    let sum = frame.reduce(0, &+)
    handles.addWrite(frame + [sum], to: 0x0010, at: 7)
    handles.addWrite(frame + [sum], to: 0x0010, at: 9)
    #expect(try #require(handles.clock).time == 7)
  }

  @Test func aKnownRingHasItsServiceAndItsFirmware() throws {
    func characteristic(_ uuid: BluetoothUUID, _ handle: UInt16) -> Characteristic {
      Characteristic(
        uuid: uuid, properties: [.write, .notify], declaration: AttributeHandle(handle - 1),
        valueHandle: AttributeHandle(handle), end: AttributeHandle(handle + 1))
    }
    let all = try #require(
      RingHandles.attributes(
        write: characteristic(RingGATT.commandWrite, 0x10),
        notify: characteristic(RingGATT.commandNotify, 0x12),
        firmwareRevision: "R02_3.00.06"))
    #expect(all.last?.type == RingGATT.firmwareRevision)
    #expect(all.last?.value == Array("R02_3.00.06".utf8))
  }

  @Test func requestsOfStoredDataAreAlikeByTheirDay() throws {
    let command = CommandTable.heartRateLog.command
    func request(_ day: UInt32) throws -> RingFrame {
      try RingFrame(command, payload: (0..<4).map { UInt8(truncatingIfNeeded: day >> ($0 * 8)) })
    }
    let monday = try request(20_000 * 86400)
    let tuesday = try request(20_001 * 86400)
    #expect(monday.isAboutDay(of: monday))
    #expect(!monday.isAboutDay(of: tuesday))
    #expect(monday.hasForm(of: tuesday))
    #expect(monday.answerWithoutData != nil)
    let battery = RingFrame(RingCommand(rawValue: 0x03))
    #expect(battery.answerWithoutData == nil)
    #expect(battery.isAboutDay(of: battery))
    #expect(!battery.hasForm(of: monday))
  }
}
