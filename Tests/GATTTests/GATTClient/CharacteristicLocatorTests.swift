import ATT
import HaloBluetoothCore
import HaloGATT
import TestSupport
import Testing

@testable import HaloGATT

/// Which of several attributes of one UUID is meant, and which handles are still true.
@Suite struct CharacteristicLocatorTests {
  private func characteristic(_ type: String, _ handle: UInt16) -> Characteristic {
    Characteristic(
      uuid: uuid(type), properties: .notify, declaration: AttributeHandle(handle - 1),
      valueHandle: AttributeHandle(handle), end: AttributeHandle(handle + 1))
  }

  /// Two services of one UUID with two characteristics of one UUID each, the later one first.
  private func places() -> CharacteristicLocator {
    var places = CharacteristicLocator()
    for start in [0x30, 0x10] as [UInt16] {
      places.note(service(start, start + 8))
    }
    for start in [0x30, 0x10] as [UInt16] {
      places.note(
        [
          characteristic("2a37", start + 2), characteristic("2a38", start + 4),
          characteristic("2a37", start + 7),
        ], of: service(start, start + 8))
    }
    return places
  }

  @Test func numbersEqualUUIDsByHandleOrder() {
    let places = places()
    let names = ([0x12, 0x14, 0x17, 0x32, 0x37] as [AttributeHandle]).map { places.name(at: $0) }
    #expect(names.map { $0?.serviceIndex } == [0, 0, 0, 1, 1])
    #expect(names.map { $0?.index } == [0, 0, 1, 0, 1])
    #expect(Set(names).count == 5)
    #expect(places.services(uuid("180a")).map(\.handles.start) == [0x10, 0x30])
  }

  /// A service of which a part has changed is no longer what it was, as a whole.
  @Test func aServiceIsForgottenWithTheFirstOfItsHandles() {
    var places = places()
    #expect(places.forget(range(0x18, 0x2F)) == range(0x10, 0x2F))
    #expect(places.name(at: 0x12) == nil && places.name(at: 0x17) == nil)
    #expect(places.name(at: 0x32) != nil)
    #expect(places.forget(range(0x19, 0x2F)) == range(0x19, 0x2F))
    #expect(places.services(uuid("180a")).map(\.handles.start) == [0x30])
    #expect(places.forget(range(0x38, 0x38)) == range(0x30, 0x38))
    #expect(places.count == 0)
  }

  @Test func noMoreThanFitsIsRemembered() {
    var places = CharacteristicLocator()
    for start in 1...5000 as ClosedRange<UInt16> { places.note(service(start, start)) }
    #expect(places.count == 4096)
    places.note([characteristic("2a37", 2)], of: service(1, 1))
    #expect(places.count == 4096 && places.name(at: 2) == nil)
    _ = places.forget(range(4096, 4096))
    places.note([characteristic("2a37", 2), characteristic("2a37", 3)], of: service(1, 1))
    #expect(places.count == 4096 && places.name(at: 2) != nil && places.name(at: 3) == nil)
  }

  @Test func rangesOverlapFromTheFirstHandleToTheLast() {
    let one = range(0x10, 0x20)
    #expect(one.overlaps(range(0x20, 0x30)) && one.overlaps(range(0x05, 0x10)))
    #expect(!one.overlaps(range(0x21, 0x30)) && !one.overlaps(range(0x05, 0x0F)))
    #expect(one.subtracting(range(0x14, 0x16)) == [range(0x10, 0x13), range(0x17, 0x20)])
    #expect(one.subtracting(range(0x10, 0x1F)) == [range(0x20, 0x20)])
    #expect(one.subtracting(range(0x11, 0xFFFF)) == [range(0x10, 0x10)])
    #expect(one.subtracting(.all) == [])
    #expect(one.subtracting(range(0x21, 0x30)) == [one])
    #expect(one.union(range(0x05, 0x15)) == range(0x05, 0x20))
  }

  // MARK: Trust

  @Test func discoveryBeforeServiceChangedIsInvalid() {
    var trust = HandleValidity()
    trust.change(range(0x10, 0x1F))
    #expect(trust.hasChanged(range(0x1F, 0x30), since: 0))
    #expect(!trust.hasChanged(range(0x20, 0x30), since: 0))
    #expect(!trust.hasChanged(range(0x10, 0x1F), since: 1))
    // A second change, while what the first one has asked for is under way.
    trust.change(range(0x10, 0x1F))
    #expect(trust.hasChanged(range(0x10, 0x1F), since: 1))
    trust.discovered(range(0x10, 0x1F), after: 1)
    #expect(trust.isUnknown(0x10) && trust.isUnknown(0x1F))
    trust.discovered(range(0x10, 0x1F), after: 2)
    #expect(!trust.isUnknown(0x10) && !trust.isUnknown(0x1F))
  }

  @Test func rediscoveryValidatesOnlyItsHandleRange() {
    var trust = HandleValidity()
    trust.change(range(0x10, 0x1F))
    #expect(!trust.isUnknown(0x0F) && !trust.isUnknown(0x20))
    trust.discovered(range(0x14, 0x17), after: 1)
    let unknown = ([0x10, 0x13, 0x14, 0x17, 0x18, 0x1F] as [AttributeHandle]).filter { trust.isUnknown($0) }
    #expect(unknown == [0x10, 0x13, 0x18, 0x1F])
  }

  /// The memory for changes is bounded: after that, nothing from before counts.
  @Test func manyServiceChangesInvalidateAllHandles() {
    var trust = HandleValidity()
    for number in 1...40 as ClosedRange<UInt16> { trust.change(range(number, number)) }
    #expect(trust.changeCount == 40)
    #expect(trust.hasChanged(range(0x1000, 0x1000), since: 0) && trust.isUnknown(0x1000))
    #expect(!trust.hasChanged(.all, since: 40))
    trust.discovered(.all, after: 40)
    #expect(!trust.isUnknown(0x1000))
  }
}
