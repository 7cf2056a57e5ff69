import CoreBluetooth
import HaloDevices
import HaloRaw
import Testing

/// What docs/porting.md says of casts, and of methods that are not called.
@Suite struct PortingTests {
  /// The casts of programs, on what a delegate gets.
  @Test func advertisementsAreCastAsOnApplesSystems() async throws {
    let radio = await ManagedAdapter.kept(SimulatedRadio([await Devices.strap()]))
    let delegate = CastingDelegate()
    let central = CBCentralManager(delegate: delegate, queue: DispatchQueue(label: "casts"), radio: radio)
    var results: [String] = []
    for await text in delegate.texts.prefix(7) { results.append(text) }
    central.stopScan()
    #expect(
      results == [
        "[CBUUID] true", "NSArray true", "String Optional(\"Strap\")", "NSString true", "Bool Optional(true)",
        "NSNumber Optional(1)", "RSSI -50 -50 -50",
      ])
    await radio.close()
  }

  @Test func numbersAndTextsAreBridgedByCasts() {
    let values: [String: Any] = [
      "number": NSNumber(value: -50), "int": 5, "text": "t", "data": Data([1]),
      "list": [CBUUID(string: "180D")],
    ]
    #expect(values["number"] as? Int == -50)
    #expect(values["number"] as? Double == -50)
    #expect(values["int"] as? NSNumber == 5)
    #expect(values["text"] as? NSString == "t")
    #expect((values["data"] as? NSData)?.length == 1)
    #expect((values["list"] as? NSArray)?.count == 1)
    #expect(values["list"] as? [CBUUID] == [CBUUID(string: "180D")])
    #expect(values["number"] as? UInt8 == nil)
  }

  /// Options come as numbers, booleans, and objects.
  @Test(arguments: 0..<3) func anOptionIsABooleanOrANumber(_ index: Int) async {
    let values: [Any] = [true, NSNumber(value: true), true as AnyObject]
    let radio = await ManagedAdapter.kept(SimulatedRadio([await Devices.strap()]))
    let recorder = await Recorder.start(radio)
    let option = UncheckedSendable(values[index])
    await recorder.perform {
      $0.central.scanForPeripherals(options: [CBCentralManagerScanOptionAllowDuplicatesKey: option.value])
    }
    await recorder.until("found Strap", count: 3)
    await radio.close()
  }

  /// The method of a requirement is chosen where the conformance is declared.
  @Test func aMethodThatOnlyASubclassHasIsNotCalled() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([await Devices.strap()]))
    let queue = DispatchQueue(label: "subclass")
    let (late, overriding) = (LateDelegate(), OverridingDelegate())
    let delegates: [any CBCentralManagerDelegate] = [late, overriding]
    let centrals = delegates.map { CBCentralManager(delegate: $0, queue: queue, radio: radio) }
    for await _ in overriding.events.prefix(1) {}
    // Both scans have had reports by now: those of the first one, too.
    let recorder = await Recorder.start(radio)
    await recorder.perform { $0.central.scanForPeripherals() }
    await recorder.until("found Strap")
    queue.sync { #expect(late.count == 0) }
    for central in centrals { central.stopScan() }
    await radio.close()
  }
}

private struct UncheckedSendable<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

private class ScanningDelegate: NSObject, CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals() }
  }
}

/// A near miss besides: `didDiscoverPeripheral` compiles, and no manager knows it.
private final class LateDelegate: ScanningDelegate, @unchecked Sendable {
  var count = 0

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) { count += 1 }

  func centralManager(
    _ central: CBCentralManager, didDiscoverPeripheral peripheral: CBPeripheral,
    advertisementData: [String: Any], rssi: NSNumber
  ) { count += 1 }
}

private final class OverridingDelegate: BaseDelegate, @unchecked Sendable {
  let events: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  override init() {
    (events, continuation) = AsyncStream.makeStream()
  }

  override func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) { continuation.yield() }
}

private class BaseDelegate: NSObject, CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals() }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {}
}

private final class CastingDelegate: NSObject, CBCentralManagerDelegate, Sendable {
  let texts: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  override init() {
    (texts, continuation) = AsyncStream.makeStream()
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals() }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData data: [String: Any],
    rssi: NSNumber
  ) {
    continuation.yield(
      "[CBUUID] \((data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID])?.isEmpty == false)")
    continuation.yield("NSArray \((data[CBAdvertisementDataServiceUUIDsKey] as? NSArray)?.count == 1)")
    continuation.yield("String \(String(describing: data[CBAdvertisementDataLocalNameKey] as? String))")
    continuation.yield("NSString \((data[CBAdvertisementDataLocalNameKey] as? NSString) == "Strap")")
    continuation.yield("Bool \(String(describing: data[CBAdvertisementDataIsConnectable] as? Bool))")
    continuation.yield("NSNumber \(String(describing: data[CBAdvertisementDataIsConnectable] as? NSNumber))")
    continuation.yield("RSSI \(rssi) \(rssi.intValue) \((rssi as Any as? Int) ?? 0)")
  }
}
