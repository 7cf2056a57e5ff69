import CoreBluetooth
import HaloDevices
import HaloRaw
import HaloSystem
import Testing

/// Names that programs use besides the calls: they compile, and do what they can.
@Suite struct SurfaceTests {
  @Test func aUUIDWithoutATextIsANewOne() {
    let (one, other) = (CBUUID(), CBUUID())
    #expect(one != other)
    #expect(one.uuidString.count == 36)
    #expect(one.data.count == 16)
  }

  /// Peripherals as keys (Polidea/RxBluetoothKit keeps them in dictionaries).
  @Test func aCopyOfAPeripheralIsThePeripheral() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([await Devices.strap()]))
    let recorder = await Recorder.start(radio)
    await recorder.connect("Strap")
    await recorder.perform { me in
      guard let peripheral = me.peripherals["Strap"] else { return me.note("no peripheral") }
      let dictionary = NSMutableDictionary()
      dictionary.setObject("kept", forKey: peripheral)
      #expect(dictionary.object(forKey: peripheral) as? String == "kept")
      #expect(peripheral.copy() as AnyObject === peripheral)
    }
    await radio.close()
  }

  /// The durations of connections (loudnate/xDripG5).
  @Test func theTimeIsSecondsSince2001() {
    let now: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()
    let age: CFTimeInterval = Date().timeIntervalSinceReferenceDate - now
    #expect((0..<60).contains(age))
  }

  @Test func constantsHaveTheirValues() {
    #expect(CBUUID(string: CBUUIDCharacteristicObservationScheduleString).uuidString == "2910")
    let options: [String: Any] = [CBCentralManagerOptionDeviceAccessForMedia: true]
    #expect(options["kCBInitOptionDeviceAccessForMedia"] as? Bool == true)
  }

  /// A notification whose result nobody reads, as in the samples of Apple.
  @Test func theResultOfAnUpdateCanBeIgnored() {
    let manager = CBPeripheralManager(delegate: nil, queue: DispatchQueue(label: "surface"))
    let value = CBMutableCharacteristic(
      type: CBUUID(string: "2A37"), properties: .notify, value: nil, permissions: .readable)
    manager.updateValue(Data([1]), for: value, onSubscribedCentrals: nil)
    #expect(!manager.updateValue(Data([1]), for: value, onSubscribedCentrals: nil))
  }

  @available(*, deprecated)
  @Test func deprecatedNamesCompile() {
    let state = CBCentralManagerState(rawValue: CBManagerState.poweredOn.rawValue)
    #expect(state == .poweredOn)
    #expect(CBPeripheralManagerState.poweredOff.rawValue == CBManagerState.poweredOff.rawValue)
    #expect(CBPeripheralManager.authorizationStatus().rawValue == CBPeripheralManager.authorization.rawValue)
    let value = CBMutableCharacteristic(
      type: CBUUID(string: "2A37"), properties: .notify, value: nil, permissions: .readable)
    #expect(!value.isBroadcasted)
  }

  /// The properties of a channel are not optional for programs that read them.
  @Test func theStreamsOfAChannelAreImplicitlyUnwrapped() {
    func open(_ channel: CBL2CAPChannel) -> [Stream] {
      channel.inputStream.open()
      channel.outputStream.schedule(in: .main, forMode: .default)
      _ = channel.peer.identifier
      return [channel.inputStream, channel.outputStream]
    }
    let opening: (CBL2CAPChannel) -> [Stream] = open
    #expect(type(of: opening) == ((CBL2CAPChannel) -> [Stream]).self)
  }

  /// Wrappers observe whether a manager scans or advertises, and that it is still their delegate's
  /// (teufelaudio/CombineBluetooth).
  @Test func thePropertiesOfManagersAreObserved() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    let seen = LockedValue<[String]>([])
    let observations = LockedValue<[NSKeyValueObservation]>([])
    let note = { (text: String) in seen.withLock { $0.append(text) } }
    await offer.perform { me in
      let made = [
        me.manager.observe(\.isAdvertising, options: [.initial, .new]) { manager, change in
          note("advertising \(change.newValue == manager.isAdvertising) \(manager.isAdvertising)")
        },
        me.manager.observe(\.delegate) { _, change in
          note("\(change.oldValue.flatMap { $0 } === me) \(change.newValue.flatMap { $0 } == nil)")
        },
      ]
      observations.withLock { $0 = made }
      me.manager.startAdvertising(nil)
    }
    await offer.until("started")
    await offer.perform { me in
      me.manager.stopAdvertising()
      me.manager.delegate = me
      me.manager.delegate = nil
      observations.withLock { $0 = [] }
      me.manager.delegate = me
    }
    #expect(
      seen.withLock { $0 } == [
        "advertising true false", "advertising true true", "advertising true false", "true true",
      ])
    await meeting.end()
  }

  @Test func thePropertiesOfACentralManagerAndOfAPeripheralAreObserved() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([await Devices.strap()]))
    let recorder = await Recorder.start(radio)
    let seen = LockedValue<[String]>([])
    let observations = LockedValue<[NSKeyValueObservation]>([])
    let note = { (text: String) in seen.withLock { $0.append(text) } }
    recorder.on("found Strap") { me in
      guard let peripheral = me.peripherals["Strap"] else { return }
      let delegate = peripheral.observe(\.delegate) { peripheral, _ in
        note("delegate \(peripheral.delegate == nil)")
      }
      observations.withLock { $0.append(delegate) }
      peripheral.delegate = nil
    }
    await recorder.perform { me in
      let made = [
        me.central.observe(\.isScanning) { central, _ in note("scanning \(central.isScanning)") },
        me.central.observe(\.state) { central, _ in note("on \(central.state == .poweredOn)") },
      ]
      observations.withLock { $0 += made }
      me.central.scanForPeripherals()
      me.central.scanForPeripherals()
    }
    await recorder.until("found Strap")
    await recorder.perform { me in me.central.stopScan() }
    #expect(seen.withLock { $0 } == ["scanning true", "delegate true", "scanning false"])
    await radio.close()
    observations.withLock { $0 = [] }
  }
}
