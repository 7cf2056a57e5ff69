import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

@testable import RingLink

/// The attributes that are made of traffic alone: each with its handle, type and value, and where they are not made.
struct RingHandleLimitTests {
  private static let battery = RingFrame(0x03).bytes
  private static let bulk = bulkFrame(0x27, [])

  private func handles(write: UInt16 = 0x10, notify: UInt16 = 0x12) -> RingHandles {
    var handles = RingHandles()
    handles.addWrite(Self.battery, to: AttributeHandle(write), at: 0)
    handles.addNotification(Self.battery, of: AttributeHandle(notify))
    return handles
  }

  private func services(_ handles: RingHandles) -> [UInt16] {
    (handles.attributes ?? []).filter { $0.groupEnd != nil }.map(\.handle.rawValue)
  }

  private func text(_ attribute: ServerAttribute) -> String {
    let end = attribute.groupEnd.map { " to \(Hex.string($0.rawValue))" } ?? ""
    return
      "\(Hex.string(attribute.handle.rawValue)) \(attribute.type) \(attribute.access.rawValue) "
      + "\(Hex.string(attribute.value)) \(attribute.capacity)\(end)"
  }

  @Test func theCommandServiceIsWhole() throws {
    let all = try #require(handles().attributes)
    let write = Hex.string(RingGATT.commandWrite.wireBytes)
    let notify = Hex.string(RingGATT.commandNotify.wireBytes)
    #expect(
      all.map(text) == [
        "0x000e 2800 1 \(Hex.string(RingGATT.commandService.wireBytes)) 0 to 0x0013",
        "0x000f 2803 1 0c1000\(write) 0",
        "0x0010 \(RingGATT.commandWrite) 2  512", "0x0011 2803 1 101200\(notify) 0",
        "0x0012 \(RingGATT.commandNotify) 2  512", "0x0013 2902 3 0000 2",
      ])
    #expect(all.last?.configuration == 1)
  }

  /// There is room before and behind: for a service and a declaration, and for what has no place of its own.
  @Test(
    arguments: [
      (3, 5, true), (2, 5, false), (5, 3, false), (6, 3, true), (5, 2, false), (0xFFEF, 0xFFE0, true),
      (0xFFF0, 0xFFE0, false), (0xFFE0, 0xFFEF, true), (0xFFE0, 0xFFF0, false), (0x12, 0x11, false),
      (0x11, 0x12, false),
      (0x10, 0x12, true), (0x12, 0x10, false), (0x13, 0x10, true),
    ] as [(UInt16, UInt16, Bool)])
  func handlesHaveRoom(_ write: UInt16, _ notify: UInt16, _ isOne: Bool) {
    #expect((handles(write: write, notify: notify).attributes != nil) == isOne)
  }

  /// One value in eight may be something else; of several handles the one with the most frames counts, or the lower one.
  @Test func selectsHandleWithMostFrames() throws {
    var handles = handles()
    handles.addNotification([1], of: 0x12)
    #expect(handles.attributes == nil)
    for _ in 0..<7 { handles.addNotification(Self.battery, of: 0x12) }
    #expect(services(handles) == [0x0E])
    handles.addNotification([1], of: 0x12)
    #expect(handles.attributes == nil)
    for _ in 0..<3 { handles.addNotification(Self.battery, of: 0x20) }
    #expect(handles.attributes?.last?.handle == 0x21)
    for _ in 0..<3 { handles.addNotification(Self.battery, of: 0x18) }
    #expect(handles.attributes?.last?.handle == 0x19)
    for _ in 0..<4 { handles.addNotification(Self.battery, of: 0x28) }
    #expect(handles.attributes?.last?.handle == 0x29)
  }

  /// The second service lies before the first one or behind, and not within.
  @Test(
    arguments: [
      (0x16, 0x18, [0x0E, 0x14]), (0x15, 0x17, [0x0E]), (0x08, 0x0A, [0x06, 0x0E]), (0x0B, 0x0D, [0x0E]),
      (0x0A, 0x0C, [0x08, 0x0E]),
    ] as [(UInt16, UInt16, [UInt16])])
  func servicesLieApart(_ write: UInt16, _ notify: UInt16, _ expected: [UInt16]) {
    var handles = handles()
    handles.addWrite(Self.bulk, to: AttributeHandle(write), at: 0)
    handles.addNotification(Self.bulk, of: AttributeHandle(notify))
    handles.addNotification([1, 2, 3], of: AttributeHandle(notify))
    #expect(services(handles) == expected)
  }

  /// A frame whose CRC is wrong, a frame of the stream and other bytes begin no bulk frame; one that goes on does.
  @Test func bulkFramesAreChecked() {
    func begins(_ value: [UInt8]) -> Bool {
      var handles = handles()
      handles.addWrite(value, to: 0x16, at: 0)
      handles.addNotification(value, of: 0x18)
      return services(handles).count == 2
    }
    #expect(begins(Self.bulk) && begins(hex("bc2a0500ffff01")))
    #expect(!begins(hex("bc270000fffe")) && !begins([0xBC]) && !begins(hex("bd270000ffff")) && !begins([]))
  }

  /// Texts of 4 to 64 printable characters; revisions of a ring, with a place of their own.
  @Test func distinguishesRevisionsFromOtherText() throws {
    func revision(_ text: [UInt8], at handle: AttributeHandle = 0x30) -> String? {
      var handles = handles()
      handles.addRead(text, of: handle)
      return handles.attributes?.first { $0.handle == handle && $0.access == .read }.map {
        "\($0.type) \(String(decoding: $0.value, as: UTF8.self))"
      }
    }
    #expect(revision(Array("RT11".utf8)) == "2A26 RT11" && revision(Array("RT1".utf8)) == nil)
    #expect(revision(Array("RT11_V1".utf8)) == "2A27 RT11_V1" && revision(Array("lamp".utf8)) == nil)
    let long = Array("RT11".utf8) + [UInt8](repeating: 0x7E, count: 60)
    #expect(revision(long) != nil && revision(long + [0x7E]) == nil)
    for (byte, isPrintable) in [(UInt8(0x1F), false), (0x20, true), (0x7E, true), (0x7F, false)] {
      #expect((revision(Array("RT11".utf8) + [byte]) != nil) == isPrintable)
    }
    #expect(revision(Array("RT11".utf8), at: 3) != nil && revision(Array("RT11".utf8), at: 2) == nil)
    #expect(revision(Array("RT11".utf8), at: 0x13) == nil)
  }

  @Test func deviceInformationIsWhole() throws {
    var handles = handles()
    handles.addRead(Array("RT11CR_V1.0".utf8), of: 0x24)
    handles.addRead(Array("RT11CR_1.00".utf8), of: 0x20)
    let all = try #require(handles.attributes)
    let firmware = Hex.string(Array("RT11CR_1.00".utf8))
    let hardware = Hex.string(Array("RT11CR_V1.0".utf8))
    #expect(
      all.dropFirst(6).map(text) == [
        "0x001e 2800 1 0a18 0 to 0x0024", "0x001f 2803 1 022000262a 0", "0x0020 2A26 1 \(firmware) 512",
        "0x0023 2803 1 022400272a 0", "0x0024 2A27 1 \(hardware) 512",
      ])
    // Side by side they have no room for their declarations.
    handles = self.handles()
    handles.addRead(Array("RT11CR_V1.0".utf8), of: 0x21)
    handles.addRead(Array("RT11CR_1.00".utf8), of: 0x20)
    #expect(services(handles) == [0x0E])
  }

  @Test func aKnownRingHasAFreePlaceForItsFirmware() throws {
    func characteristic(_ uuid: BluetoothUUID, _ handle: UInt16, _ properties: CharacteristicProperties)
      -> Characteristic
    {
      Characteristic(
        uuid: uuid, properties: properties, declaration: AttributeHandle(handle - 1),
        valueHandle: AttributeHandle(handle), end: AttributeHandle(handle + 1))
    }
    let write = characteristic(RingGATT.commandWrite, 0x10, .write)
    let notify = characteristic(RingGATT.commandNotify, 0x12, .notify)
    let all = try #require(RingHandles.attributes(write: write, notify: notify, firmwareRevision: "R"))
    #expect(all.count == 9 && all[1].value[0] == 0x08)
    #expect(
      all.suffix(3).map(text) == [
        "0xfff0 2800 1 0a18 0 to 0xfff2", "0xfff1 2803 1 02f2ff262a 0", "0xfff2 2A26 1 52 512",
      ])
    #expect(RingHandles.attributes(write: write, notify: notify, firmwareRevision: nil)?.count == 6)
    let low = characteristic(RingGATT.commandWrite, 2, .write)
    #expect(RingHandles.attributes(write: low, notify: notify, firmwareRevision: nil) == nil)
  }

  /// 64 handles of each kind are looked at, those that are known already for as long as there is traffic.
  @Test func sixtyFourHandlesAreLookedAt() {
    for (count, isFound) in [(62, true), (63, true), (64, false)] {
      var handles = RingHandles()
      for handle in 0..<count {
        handles.addWrite([1], to: AttributeHandle(0x100 + UInt16(handle)), at: 0)
        handles.addNotification([1], of: AttributeHandle(0x100 + UInt16(handle)))
      }
      handles.addWrite(Self.battery, to: 0x10, at: 0)
      handles.addNotification(Self.battery, of: 0x12)
      handles.addWrite(Self.battery, to: 0x10, at: 0)
      handles.addNotification(Self.battery, of: 0x12)
      #expect((handles.attributes != nil) == isFound)
    }
  }

  // MARK: Requests that are alike

  @Test func requestsHaveTheSameForm() throws {
    let alike: [(String, String, Bool)] = [
      ("01261121", "01250101", true), ("03", "03", true), ("0800", "0801", false), ("0204", "0205", false),
      ("0204", "0204", true), ("5055aa", "50", false), ("6901", "6903", false), ("690101", "690103", true),
      ("3700", "3705", true), ("0301", "0300", true), ("0300", "0301", true), ("1601", "1602", false),
      ("160101", "160102", true), ("03", "04", false),
      ("4300", "4301", true),
    ]
    for (first, second, isAlike) in alike {
      #expect(try frame(first).hasForm(of: frame(second)) == isAlike, "\(first) \(second)")
      #expect(try frame(second).hasForm(of: frame(first)) == isAlike, "\(second) \(first)")
    }
  }

  @Test func requestsAreAboutADay() throws {
    let alike: [(String, String, Bool)] = [
      ("3701", "3701", true), ("3701", "3702", false), ("3701", "3901", false), ("03", "04", true),
      ("03", "3701", false),
      ("3701", "03", false), ("1500000000", "157f510100", true), ("1500000000", "1580510100", false),
      ("1500", "37", false),
    ]
    for (first, second, isAlike) in alike {
      #expect(try frame(first).isAboutDay(of: frame(second)) == isAlike, "\(first) \(second)")
    }
    #expect(try frame("3705").answerWithoutData == frame("37ff") && frame("0301").answerWithoutData == nil)
  }
}
