import ATT
import HaloBluetoothCore
import HaloGATT
import TestSupport
import Testing

@testable import HaloGATT

/// The attributes of a device: their order, their handles, and what changes.
@Suite struct AttributeDatabaseTests {
  private let battery = uuid("180f")
  private let level = uuid("2a19")

  @Test func aServiceIsDiscoveredAndRead() {
    let dialogue = ServerDialogue(mtu: 64) { database in
      #expect(database.addService(battery, at: 0x0010) == 0x0010)
      #expect(database.addCharacteristic(level, [.read, .notify], value: [99]) == 0x0012)
    }
    #expect(dialogue.ask("10 0100 ffff 0028") == "110610001300" + "0f18")
    #expect(dialogue.ask("08 0100 ffff 0328") == "0907" + "1100" + "121200192a")
    #expect(dialogue.ask("04 1300 ffff") == "0501" + "13000229")
    #expect(dialogue.ask("0a 1200") == "0b63")
  }

  /// Handles of what was removed are not given to anything else, and those of what stays do not change.
  @Test func handlesAreStable() {
    let database = AttributeDatabase()
    database.addService(battery)
    let first = database.addCharacteristic(level, [.read, .notify], value: [1])
    let second = database.addService(battery)
    let value = database.addCharacteristic(level, .read, value: [2])
    var changes: [HandleRange] = []
    database.onChange = { changes.append($0) }
    let count = database.changeCount
    #expect(database.removeService(at: 1) == range(1, 4))
    #expect(database.value(of: first) == nil && database.value(of: value) == [2])
    #expect(database.configuration(of: first) == nil)
    #expect(database.removeService(at: 1) == nil && database.removeService(at: value) == nil)
    #expect(database.removeService(at: second) == range(5, 7))
    #expect(changes == [range(1, 4), range(5, 7)] && database.changeCount == count + 2)
    #expect(database.attributes.isEmpty)
    #expect(database.addService(battery) == 8)
    #expect(database.handles(of: GATTUUID.primaryService) == [8])
  }

  @Test func batchesChangesIntoOneHandleRange() {
    let database = AttributeDatabase()
    database.addService(battery)
    var changes: [HandleRange] = []
    database.onChange = { changes.append($0) }
    database.update { database in
      database.removeService(at: 1)
      database.addService(battery, at: 0x20)
      database.addCharacteristic(level, .notify)
    }
    database.update { _ in }
    #expect(changes == [range(1, 0x23)])
  }

  /// A configuration belongs to the characteristic that is declared before it, wherever it is among the descriptors.
  @Test func aConfigurationNeedNotFollowItsValue() {
    let database = AttributeDatabase([
      ServerAttribute(handle: 5, type: GATTUUID.clientCharacteristicConfiguration, configuration: 1),
      ServerAttribute(handle: 4, type: uuid("2901"), value: [0x61]),
      ServerAttribute(handle: 3, type: level, access: .read),
      ServerAttribute(
        handle: 2, type: GATTUUID.characteristic,
        value: CharacteristicDeclaration(level, [.read, .notify], at: 3).bytes),
      ServerAttribute(handle: 1, type: GATTUUID.primaryService, value: battery.wireBytes, groupEnd: 5),
    ])
    #expect(database.configuration(of: 3) == 5 && database.attributes.map(\.handle) == [1, 2, 3, 4, 5])
  }

  @Test func rejectsAttributesWhenHandlesAreExhausted() {
    let database = AttributeDatabase()
    database.addService(battery, at: 0xFFFD)
    // A characteristic that is notified needs three handles.
    #expect(database.addCharacteristic(level, .notify) == 0 && !database.isFull)
    #expect(database.addCharacteristic(level, .read, value: [7]) == 0xFFFF && database.isFull)
    #expect(database.addCharacteristic(level, .read) == 0 && database.addDescriptor(level, value: []) == 0)
    #expect(database.addService(battery) == 0 && database.addService(battery, at: 1) == 0)
    let dialogue = ServerDialogue(database)
    #expect(dialogue.ask("0a ffff") == "0b07")
    #expect(dialogue.ask("06 0100 ffff 0028 0f18") == "07fdffffff")
  }

  /// A lookup among 65000 attributes takes 17 steps, wherever the attribute is.
  @Test func lookupsDoNotSearchTheTable() {
    let handles = (1...UInt16(65_000)).map { AttributeHandle($0) }
    for handle in [AttributeHandle(1), 30_000, 65_000, 65_001] {
      var steps = 0
      let place = handles.firstPlace {
        steps += 1
        return $0 >= handle
      }
      #expect(place == Int(handle.rawValue) - 1 && steps <= 17)
    }
    #expect(handles.places(in: range(10, 19)) == 9..<19)
    #expect(handles.places(in: range(65_001, 0xFFFF)).isEmpty && handles.places(in: range(19, 10)).isEmpty)
  }

  /// Find By Type Value names the end of what a declaration groups (Part G, 2.5.3).
  @Test func findByTypeValueReturnsGroupEndHandle() {
    let dialogue = ServerDialogue { database in
      database.addService(battery)
      database.addCharacteristic(level, .notify)
      database.addCharacteristic(level, .read)
      database.addDescriptor(uuid("2901"), value: [1])
      database.addService(battery)
      database.addCharacteristic(level, .read)
      database.addDescriptor(uuid("2901"), value: [1])
    }
    #expect(dialogue.ask("06 0100 ffff 0028 0f18") == "070100" + "0700" + "0800" + "0b00")
    #expect(dialogue.ask("06 0100 ffff 0328 10 0300 192a") == "0702000400")
    #expect(dialogue.ask("06 0100 ffff 0328 02 0600 192a") == "0705000700")
    #expect(dialogue.ask("06 0100 ffff 0328 02 0a00 192a") == "0709000b00")
    #expect(dialogue.ask("06 0100 ffff 0129 01") == "0707000700" + "0b000b00")
  }
}
