import CoreBluetooth
import HaloDevices
import HaloRaw
import HaloSystem
import TestSupport
import Testing

/// Programs that cancel a connection and connect again at once. Such programs are in the reports steamclock/bluejay 132
/// (disconnect and connect back to back) and 213 (a button that is tapped fast), innoveit/react-native-ble-manager 525 (a
/// second attempt after a timeout of its own), Rightpoint/RZBluetooth 74, rhummelmose/BluetoothKit 26 (didConnect twice).
@Suite(.timeLimit(.minutes(60))) struct ConnectAgainTests {
  /// A recorder that has found the strap.
  private func found(_ radio: ManagedAdapter) async -> Recorder {
    let recorder = await Recorder.start(radio)
    await recorder.perform { $0.central.scanForPeripherals() }
    await recorder.until("found Strap")
    await recorder.perform { $0.central.stopScan() }
    return recorder
  }

  /// A device ends each link while its features are read (50ButtonsEach/fliclib-linux-dist, 41). An attempt does not end with
  /// the first failure, as on Apple's systems, and does without what has cost two links.
  @Test func aLinkThatIsLostWhileItIsMadeIsMadeAgain() async {
    let strap = await Devices.strap()
    let simulated = await SimulatedRadio([strap])
    let radio = await ManagedAdapter.kept(simulated)
    await BluetoothActor.run {
      simulated.failedAttempts = [.remoteUserTerminatedConnection, .connectionTimeout]
    }.value
    let recorder = await Recorder.start(radio)
    await recorder.connect("Strap")
    #expect(!recorder.log.contains { $0.hasPrefix("failed") || $0.hasPrefix("disconnected") })
    #expect(await simulated.leftOut == [[], [], [.readFeatures]])
    await radio.close()
  }

  /// What no attempt can mend is reported at once.
  @Test func aControllerWithoutRoomForAnotherLinkIsReported() async {
    let strap = await Devices.strap()
    let simulated = await SimulatedRadio([strap])
    let radio = await ManagedAdapter.kept(simulated)
    let recorder = await found(radio)
    await BluetoothActor.run { simulated.failedAttempts = [.connectionLimitExceeded] }.value
    await recorder.perform { me in
      if let peripheral = me.peripherals["Strap"] { me.central.connect(peripheral) }
    }
    await recorder.until("failed Strap connectionLimitReached")
    #expect(await simulated.leftOut.count == 1)
    await radio.close()
  }

  @Test func aConnectThatFollowsTheCancelOfALinkIsNotLost() async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await Recorder.start(radio)
    await recorder.connect("Strap")
    await recorder.perform { me in
      guard let peripheral = me.peripherals["Strap"] else { return }
      me.central.cancelPeripheralConnection(peripheral)
      me.note("\(peripheral.state)")
      me.central.connect(peripheral)
      me.note("\(peripheral.state)")
    }
    await recorder.until("connected Strap", count: 2)
    #expect(
      recorder.log.suffix(4) == [
        "disconnecting", "connecting", "disconnected Strap, connecting", "connected Strap",
      ])
    #expect(await strap.connectionCount == 2)
    await radio.close()
  }

  @Test func aConnectThatFollowsTheCancelOfAPendingOneIsNotLost() async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await found(radio)
    await recorder.perform { me in
      guard let peripheral = me.peripherals["Strap"] else { return }
      for _ in 0..<3 {
        me.central.connect(peripheral)
        me.central.cancelPeripheralConnection(peripheral)
      }
      me.central.connect(peripheral)
    }
    await recorder.until("connected Strap")
    // The cancelled ones have one end, in front of the link.
    #expect(recorder.log.suffix(2) == ["disconnected Strap, connecting", "connected Strap"])
    #expect(recorder.log.count { $0.hasPrefix("disconnected") } == 1)
    await radio.close()
  }

  @Test func aConnectFromInsideDidDisconnectIsNotLost() async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await Recorder.start(radio)
    recorder.on("disconnected Strap, disconnected") { me in
      me.peripherals["Strap"].map { me.central.connect($0) }
    }
    await recorder.connect("Strap")
    for round in 2...4 {
      await recorder.perform { me in
        me.peripherals["Strap"].map { me.central.cancelPeripheralConnection($0) }
      }
      await recorder.until("connected Strap", count: round)
    }
    await radio.close()
  }

  /// A button that connects or cancels is tapped at random, from before the link until after it.
  @Test(arguments: 1...20) func lastConnectOrCancelDeterminesFinalState(seed: UInt64) async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await found(radio)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<60 {
      let taps = (0..<Int.random(in: 1...4, using: &random)).map { _ in Bool.random(using: &random) }
      await recorder.perform { me in
        guard let peripheral = me.peripherals["Strap"] else { return }
        for tap in taps {
          if tap { me.central.connect(peripheral) } else { me.central.cancelPeripheralConnection(peripheral) }
        }
      }
      for _ in 0..<Int.random(in: 0...3, using: &random) { await BluetoothActor.run {}.value }
    }
    for wanted in [CBPeripheralState.connected, .disconnected] {
      await recorder.perform { me in
        guard let peripheral = me.peripherals["Strap"] else { return }
        me.central.cancelPeripheralConnection(peripheral)
        if wanted == .connected { me.central.connect(peripheral) }
      }
      while await recorder.state(of: "Strap") != wanted { await BluetoothActor.run {}.value }
    }
    #expect(await !strap.isConnected)
    await radio.close()
  }

  /// The pending connect is forgotten with the adapter, and the one after it counts.
  @Test func aConnectAfterTheAdapterWasOffIsNotLost() async {
    let strap = await Devices.strap()
    let simulated = await SimulatedRadio([strap])
    let radio = await ManagedAdapter.kept(simulated)
    let recorder = await found(radio)
    recorder.on("poweredOff") { me in me.note("\(me.peripherals["Strap"]?.state ?? .connected) while off") }
    await strap.vanish()
    for round in 1...3 {
      await recorder.perform { me in me.peripherals["Strap"].map { me.central.connect($0) } }
      await simulated.fail()
      await recorder.until("poweredOff", count: round)
      await simulated.repair()
      await recorder.until("poweredOn", count: round + 1)
    }
    await BluetoothActor.run { strap.isPresent = true }.value
    await recorder.perform { me in me.peripherals["Strap"].map { me.central.connect($0) } }
    await recorder.until("connected Strap")
    #expect(recorder.log.count { $0 == "disconnected while off" } == 3)
    #expect(recorder.log.count { $0 == "connected Strap" } == 1)
    await radio.close()
  }

  /// What leads to a state of the connection, in one turn of the queue.
  private static let states: [(name: String, begin: @Sendable (CBCentralManager, CBPeripheral) -> Void)] = [
    ("disconnected", { _, _ in }),
    ("connecting", { $0.connect($1) }),
    (
      "connecting, again",
      {
        $0.connect($1)
        $0.connect($1)
      }
    ),
    (
      "given up",
      {
        $0.connect($1)
        $0.cancelPeripheralConnection($1)
      }
    ),
    (
      "given up, connecting",
      {
        $0.connect($1)
        $0.cancelPeripheralConnection($1)
        $0.connect($1)
      }
    ),
    (
      "given up twice",
      {
        $0.connect($1)
        $0.cancelPeripheralConnection($1)
        $0.connect($1)
        $0.cancelPeripheralConnection($1)
      }
    ),
  ]

  /// Discovering and reading in each state, with a link and without one, is answered once; so it is if the manager is released
  /// then.
  @Test(arguments: 0..<states.count, [false, true])
  func requestsAreAnsweredOnceInEveryState(index: Int, isLinked: Bool) async {
    for isReleased in [false, true] {
      let strap = await Devices.strap()
      let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
      let recorder = await Recorder.start(radio)
      await recorder.connect("Strap")
      await recorder.discover("Strap")
      if !isLinked {
        await strap.vanish()
        await recorder.until("disconnected Strap connectionTimeout, disconnected")
      }
      let location = LockedValue<CBCharacteristic?>(nil)
      if isLinked { location.withLock { $0 = recorder.characteristic("2A38") } }
      let name = Self.states[index].name
      await recorder.perform { me in
        guard let peripheral = me.peripherals["Strap"] else { return }
        // With a link, the calls begin with the end of it.
        if isLinked { me.central.cancelPeripheralConnection(peripheral) }
        Self.states[index].begin(me.central, peripheral)
        peripheral.discoverServices([CBUUID(string: "1816")])
        if let location = location.withLock({ $0 }) { peripheral.readValue(for: location) }
        peripheral.readRSSI()
        if isReleased {
          me.central = nil
          #expect(peripheral.state == .disconnected, "\(name)")
        }
      }
      while recorder.log.count(where: { $0.hasPrefix("rssi") }) < 1
        || recorder.log.count(where: { $0.hasPrefix("services") }) < 2
        || isLinked && recorder.log.count(where: { $0.hasPrefix("value 2A38") }) < 1
      {
        await recorder.perform { _ in }
      }
      await BluetoothActor.run {}.value
      await recorder.perform { _ in }
      let answers = recorder.log.filter {
        $0.hasPrefix("rssi") || $0.hasPrefix("services") || $0.hasPrefix("value")
      }
      #expect(answers.count == (isLinked ? 4 : 3), "\(name): \(answers)")
      await radio.close()
    }
  }

  /// The program does not know yet that the link is lost: the call is answered by its end, not by didConnect after that.
  @Test func aConnectWithALinkThatHasJustEndedIsAnsweredByItsEnd() async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await Recorder.start(radio)
    await recorder.connect("Strap")
    await recorder.perform { me in
      let hasLeft = DispatchSemaphore(value: 0)
      BluetoothActor.run {
        strap.vanish()
        hasLeft.signal()
      }
      hasLeft.wait()
      me.peripherals["Strap"].map { me.central.connect($0) }
    }
    await recorder.until("disconnected Strap connectionTimeout, disconnected")
    await recorder.perform { $0.note("end") }
    #expect(recorder.log.suffix(2) == ["disconnected Strap connectionTimeout, disconnected", "end"])
    await radio.close()
  }

  /// Many programs observe the state of a peripheral with key-value observing (Rightpoint/RZBluetooth 9).
  @Test func eachChangeOfTheStateIsObservedOnce() async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await found(radio)
    let states = LockedValue<[CBPeripheralState]>([])
    let observation = LockedValue<NSKeyValueObservation?>(nil)
    await recorder.perform { me in
      guard let peripheral = me.peripherals["Strap"] else { return }
      let observing = peripheral.observe(\.state, options: [.initial, .new]) { _, change in
        states.withLock { $0.append(change.newValue ?? .disconnecting) }
      }
      observation.withLock { $0 = observing }
      me.central.connect(peripheral)
    }
    await recorder.until("connected Strap")
    await recorder.perform { me in me.peripherals["Strap"].map { me.central.cancelPeripheralConnection($0) } }
    await recorder.until("disconnected Strap, disconnected")
    let expected: [CBPeripheralState] = [
      .disconnected, .connecting, .connected, .disconnecting, .disconnected,
    ]
    #expect(states.withLock { $0 } == expected)
    await recorder.perform { me in
      me.peripherals["Strap"].map { me.central.connect($0) }
      me.central = nil
    }
    #expect(states.withLock { $0 } == expected + [.connecting, .disconnected])
    observation.withLock { $0 = nil }
    await radio.close()
  }

  @Test func thePeripheralsOfAReleasedManagerAreDisconnected() async {
    let strap = await Devices.strap()
    let absent = await Devices.strap("Absent", "C0:00:00:00:00:02")
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap, absent]))
    let recorder = await Recorder.start(radio)
    await recorder.connect("Strap")
    await recorder.discover("Strap")
    await recorder.perform { $0.central.scanForPeripherals() }
    await recorder.until("found Absent")
    await absent.vanish()
    await recorder.perform { me in
      guard let peripheral = me.peripherals["Strap"], let absent = me.peripherals["Absent"] else { return }
      me.central.connect(absent)
      let service = peripheral.services?.first { $0.uuid == CBUUID(string: "180D") }
      me.central = nil
      me.note("\(peripheral.state), \(absent.state), \(peripheral.services?.count ?? 0) services")
      if let service { peripheral.discoverCharacteristics(for: service) }
      peripheral.discoverServices()
    }
    await recorder.until("services nil notConnected")
    #expect(recorder.log.contains("disconnected, disconnected, 0 services"))
    await BluetoothActor.run {}.value
    await radio.close()
    #expect(await !strap.isConnected)
  }
}

extension Recorder {
  /// As it is on the queue.
  fileprivate func state(of name: String) async -> CBPeripheralState? {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.peripherals[name]?.state) }
    }
  }
}
