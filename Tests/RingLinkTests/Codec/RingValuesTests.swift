import HCI
import HaloBluetoothCore
import RingLink
import TestSupport
import Testing

@Suite struct RingValuesTests {
  private func frame(_ text: String) throws -> RingFrame { try RingFrame(parsing: hex(text).span.bytes) }

  @Test(
    arguments: [
      ("03400000000000000000000000000043", 64), ("03600000000000000000000000000063", 96),
      ("0347000000000000000000000000004a", 71),
    ] as [(String, UInt8)])
  func batteryReplies(text: String, percent: UInt8) throws {
    let battery = try CommandTable.battery.reply(frame(text))
    #expect(battery == RingBattery(percent: percent, isCharging: false))
    #expect(CommandTable.battery.frame(of: battery).bytes == hex(text))
  }

  @Test func batteryRequestAndRefusals() throws {
    #expect(CommandTable.battery.request().bytes == hex("03000000000000000000000000000003"))
    #expect(throws: RingFrameError.unexpected(0x50)) { try CommandTable.battery.reply(RingFrame(0x50)) }
    #expect(throws: RingFrameError.self) { try CommandTable.battery.reply(RingFrame(0x03, 101)) }
    #expect(try CommandTable.battery.reply(RingFrame(0x03, 100, 1)).description == "100 %, charging")
  }

  @Test func events() throws {
    let low = RingBattery(percent: 21, isCharging: false)
    let charging = RingBattery(percent: 43, isCharging: true)
    #expect(RingEvent(try frame("730c1500000000000000000000000094")) == .battery(low))
    #expect(RingEvent(try frame("730c2b010000000000000000000000ab")) == .battery(charging))
    #expect(
      CommandTable.batteryEvent.frame(charging).bytes == hex("730c2b010000000000000000000000ab")
    )
    #expect(RingEvent(try frame("2ff10000000000000000000000000020")) == .payloadLength(241))
    #expect(RingEvent(try frame("2ff40000000000000000000000000023")) == .payloadLength(244))
    #expect(
      CommandTable.payloadLength.frame(244).bytes == hex("2ff40000000000000000000000000023"))
    var totals = LiveTotals()
    (totals.steps, totals.calories, totals.meters) = (3055, 139_785, 1999)
    #expect(RingEvent(try frame("7312000bef0222090007cf0000000082")) == .liveTotals(totals))
    #expect(RingEvent(try frame("732b1f000000000000000000000000bd")) == .variability(31))
    #expect(RingEvent(RingFrame(.notification, 0x0C, 101)) == .other(.battery))
    #expect(RingEvent(RingFrame(.notification, 0x66))?.description == "notification, kind 0x66")
    #expect(RingEvent(RingFrame(0x03)) == nil)
  }

  @Test(
    arguments: [
      ("R02_341C", .name), ("R11C_00FF", .name), ("R10M_1234", .name), ("COLMI R07_1234", .name),
      ("COLMI Ring", .name), ("TR-R02 12", .name), ("x R09_1", .name), ("RR02_A", nil),
      ("SMART_RING", .ambiguousName), ("Hello Ring", .ambiguousName), ("SE", .ambiguousName),
      ("H59_12AB", .possible), ("boAtring 7", .possible), ("SE-1", .possible), ("H59", .ambiguousName),
      ("SEx_1", nil),
      ("R22_341C", nil), ("R0_2", nil), ("R02", nil), ("R02X", nil), ("R02XY_", nil), ("", nil), ("SEX", nil),
    ] as [(String, RingIdentity?)])
  func namesAreJudged(name: String, identity: RingIdentity?) {
    #expect(RingIdentity.matches(name: name, services: []) == identity)
  }

  @Test func servicesAreSurer() {
    let service = [BluetoothUUID(0x180F as UInt16), RingGATT.commandService]
    #expect(RingIdentity.matches(name: nil, services: service) == .service)
    #expect(RingIdentity.matches(name: "SMART_RING", services: [RingGATT.bulkService]) == .service)
    #expect(RingIdentity.matches(name: nil, services: [BluetoothUUID(0x180D as UInt16)]) == nil)
    // Nobody has this company identifier; one client of 2026 takes it for a mark of these rings.
    #expect(
      RingIdentity.matches(
        name: "lamp", services: [],
        companies: [CompanyIdentifier(rawValue: 0x004C), CompanyIdentifier(rawValue: 0x1234)]) == .possible)
    #expect(
      RingIdentity.matches(name: "SE", services: [], companies: [CompanyIdentifier(rawValue: 0x1234)])
        == .ambiguousName)
    #expect(
      RingIdentity.possible < .ambiguousName && RingIdentity.ambiguousName < .name
        && .name < RingIdentity.service)
    #expect(RingGATT.commandService.description == "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E")
    #expect(RingGATT.commandNotify.description == "6E400003-B5A3-F393-E0A9-E50E24DCCA9E")
    #expect(RingGATT.bulkWrite.description == "DE5BF72A-D711-4E47-AF26-65E3012A5DC7")
  }
}
