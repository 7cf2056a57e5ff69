import CoreBluetooth
import HaloDevices
import HaloRaw
import Testing

/// What programs rely on: discovery, values and notifications of a connected peripheral.
@Suite(.timeLimit(.minutes(60))) struct PeripheralTests {
  @Test func callbacksComeInTheOrderOfTheWire() async {
    let (recorder, radio) = await connected(Devices.strap())
    await recorder.perform { me in
      me.peripherals["Strap"]?.setNotifyValue(true, for: me.characteristic("2A37"))
    }
    await recorder.until("notifying 2A37 true")
    for number in 0..<40 {
      await recorder.perform { me in
        me.peripherals["Strap"]?.writeValue(
          Data([UInt8(number)]), for: me.characteristic("2A39"), type: .withResponse)
      }
      await recorder.until("value 2A37 [0, \(number)]")
    }
    let calls = recorder.log.drop { $0 != "notifying 2A37 true" }.dropFirst()
    #expect(Array(calls) == (0..<40).flatMap { ["wrote 2A39", "value 2A37 [0, \($0)]"] })
    await radio.close()
  }

  @Test func requestsInARowAreQueuedAndEachAnsweredOnce() async {
    let (recorder, radio) = await connected(Devices.strap())
    await recorder.perform { me in
      guard let strap = me.peripherals["Strap"] else { return }
      strap.setNotifyValue(true, for: me.characteristic("2A37"))
      strap.setNotifyValue(true, for: me.characteristic("2A19"))
      strap.readValue(for: me.characteristic("2A38"))
      strap.readValue(for: me.characteristic("2A19"))
      strap.setNotifyValue(false, for: me.characteristic("2A37"))
      strap.setNotifyValue(true, for: me.characteristic("2A37"))
      strap.readRSSI()
    }
    await recorder.until("notifying 2A37 true", count: 2)
    await recorder.until("notifying 2A19 true")
    await recorder.until("rssi -50")
    let answers = recorder.log.drop { $0 != "characteristics of 180F: 2A19" }.dropFirst()
    #expect(
      answers.sorted() == [
        "notifying 2A19 true", "notifying 2A37 false", "notifying 2A37 true", "notifying 2A37 true",
        "rssi -50", "value 2A19 [81]", "value 2A38 [1]",
      ])
    await radio.close()
  }

  @Test func servicesAreFoundByUUIDAndKeepTheirObjects() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let recorder = await Recorder.start(radio)
    await recorder.connect("Strap")
    await recorder.perform { $0.peripherals["Strap"]?.discoverServices([CBUUID(string: "180F")]) }
    await recorder.until("services 180F")
    await recorder.perform { me in
      let battery = me.peripherals["Strap"]?.services?.first
      me.on("services 180D,180F") { me in
        me.note("same \(me.peripherals["Strap"]?.services?.last === battery)")
      }
      me.peripherals["Strap"]?.discoverServices([CBUUID(string: "180D")])
    }
    await recorder.until("same true")
    await recorder.perform { $0.peripherals["Strap"]?.discoverServices([CBUUID(string: "1816")]) }
    await recorder.until("services 180D,180F", count: 2)
    await radio.close()
  }

  @Test func descriptorsHaveApplesTypes() async {
    let (recorder, radio) = await connected(Devices.strap())
    await recorder.perform { me in
      me.peripherals["Strap"]?.discoverDescriptors(for: me.characteristic("2A37"))
    }
    await recorder.until("descriptors 2902,2901")
    await recorder.perform { me in
      for descriptor in me.characteristic("2A37").descriptors ?? [] {
        me.peripherals["Strap"]?.readValue(for: descriptor)
      }
    }
    await recorder.until("descriptor 2902 0")
    await recorder.until("descriptor 2901 beats")
    await recorder.perform { me in
      guard let descriptor = me.characteristic("2A37").descriptors?.first else { return }
      #expect(descriptor.value is NSNumber)
      me.peripherals["Strap"]?.writeValue(Data([1, 0]), for: descriptor)
    }
    await recorder.until("wrote descriptor operationNotSupported")
    await radio.close()
  }

  @Test func theMTUIsExchangedBeforeTheFirstAnswer() async {
    let (recorder, radio) = await connected(Devices.strap())
    let strap = recorder.peripherals["Strap"]
    #expect(strap?.maximumWriteValueLength(for: .withoutResponse) == 182)
    #expect(strap?.maximumWriteValueLength(for: .withResponse) == 512)
    await radio.close()
  }

  @Test func afterADisconnectionEachUseIsAnError() async {
    let strap = await Devices.strap()
    let (recorder, radio) = await connected(strap)
    let (stale, service) = (recorder.characteristic("2A38"), recorder.peripherals["Strap"]?.services?.first)
    await strap.leave()
    await recorder.until("disconnected Strap peripheralDisconnected, disconnected")
    #expect(recorder.peripherals["Strap"]?.services == nil)
    func use(_ me: Recorder) {
      guard let peripheral = me.peripherals["Strap"], let service else { return }
      peripheral.readValue(for: stale)
      peripheral.writeValue(Data([1]), for: stale, type: .withResponse)
      peripheral.writeValue(Data([1]), for: stale, type: .withoutResponse)
      peripheral.setNotifyValue(true, for: stale)
      peripheral.discoverDescriptors(for: stale)
      peripheral.discoverCharacteristics(for: service)
    }
    await recorder.perform {
      use($0)
      $0.peripherals["Strap"]?.discoverServices()
      $0.peripherals["Strap"]?.readRSSI()
    }
    await recorder.until("value 2A38 [] notConnected")
    await recorder.until("wrote 2A38 notConnected")
    await recorder.until("notifying 2A38 false notConnected")
    await recorder.until("descriptors nil notConnected")
    await recorder.until("services nil notConnected")
    await recorder.until("rssi 127 notConnected")
    // Handles of an earlier connection are not used on a new one.
    await recorder.perform { me in me.central.scanForPeripherals() }
    await recorder.until("connected Strap", count: 2)
    await recorder.perform { use($0) }
    await recorder.until("value 2A38 [] invalidHandle")
    await recorder.until("wrote 2A38 invalidHandle")
    await recorder.until("notifying 2A38 false invalidHandle")
    #expect(await strap.writes.isEmpty)
    await radio.close()
  }

  @Test func operationsUnderWayEndBeforeTheDisconnection() async {
    let strap = await Devices.strap()
    let (recorder, radio) = await connected(strap)
    await BluetoothActor.run { strap.answer = { $0.first == 0x0A ? [] : nil } }.value
    await recorder.perform { me in
      me.peripherals["Strap"]?.readValue(for: me.characteristic("2A38"))
      me.peripherals["Strap"]?.readValue(for: me.characteristic("2A19"))
      if let peripheral = me.peripherals["Strap"] { me.central.cancelPeripheralConnection(peripheral) }
    }
    await recorder.until("disconnected Strap, disconnected")
    #expect(
      recorder.log.suffix(3) == [
        "value 2A38 [] notConnected", "value 2A19 [] notConnected", "disconnected Strap, disconnected",
      ])
    await radio.close()
  }

  @Test func writesWithoutResponseArriveWholeAndInOrder() async {
    let strap = await Devices.strap()
    let (recorder, radio) = await connected(strap)
    let count = 2000
    nonisolated(unsafe) var sent = 0
    let write = { @Sendable (me: Recorder) in
      guard let peripheral = me.peripherals["Strap"] else { return }
      while sent < count, peripheral.canSendWriteWithoutResponse {
        peripheral.writeValue(
          Data([UInt8(sent & 255), UInt8(sent >> 8)]), for: me.characteristic("2A39"), type: .withoutResponse)
        sent += 1
      }
      if sent == count {
        me.note("sent")
        sent += 1
      }
    }
    recorder.on("ready", write)
    await recorder.perform(write)
    await recorder.until("sent")
    // An answer follows all that was sent before its request.
    await recorder.perform { me in me.peripherals["Strap"]?.readValue(for: me.characteristic("2A38")) }
    await recorder.until("value 2A38 [1]")
    await recorder.until("ready")
    while await strap.writes.count < count { await BluetoothActor.run {}.value }
    #expect(await strap.writes.map { Int($0.value[0]) | Int($0.value[1]) << 8 } == Array(0..<count))
    await radio.close()
  }

  @Test func writesWithoutResponseThatDoNotWaitForRoomAreDroppedAtABound() async {
    let strap = await Devices.strap()
    // A link whose peer takes nothing for a minute is given up.
    let simulated = await SimulatedRadio.inRealTime([strap])
    let (recorder, radio) = await connected(simulated)
    await BluetoothActor.run { strap.isStalled = true }.value
    let write = { @Sendable (me: Recorder, number: Int) in
      guard let peripheral = me.peripherals["Strap"] else { return }
      peripheral.writeValue(
        Data([UInt8(number & 255), UInt8(number >> 8)]), for: me.characteristic("2A39"),
        type: .withoutResponse)
    }
    // The host takes some, until it is full.
    await recorder.perform { me in for number in 0..<400 { write(me, number) } }
    while await simulated.hasRoom(to: strap) { await BluetoothActor.run {}.value }
    await recorder.perform { me in
      for number in 400..<2000 { write(me, number) }
      me.note("can send \(me.peripherals["Strap"]?.canSendWriteWithoutResponse ?? true)")
    }
    #expect(recorder.log.last == "can send false")
    await BluetoothActor.run { strap.isStalled = false }.value
    await recorder.until("ready")
    await recorder.perform { me in me.peripherals["Strap"]?.readValue(for: me.characteristic("2A38")) }
    await recorder.until("value 2A38 [1]")
    // There is room again, and the connection goes on.
    await recorder.perform { write($0, 2000) }
    while await strap.writes.last?.value != [0xD0, 0x07] { await BluetoothActor.run {}.value }
    let written = await strap.writes.map { Int($0.value[0]) | Int($0.value[1]) << 8 }
    #expect(written == Array(0..<written.count - 1) + [2000])
    // The host and the controller had taken some.
    #expect((100..<200).contains(written.count - 1 - CBPeripheral.maximumWaitingWrites), "\(written.count)")
    await radio.close()
  }

  /// ATT allows no request after one that was not answered, so the link is ended; the program has not asked for that.
  @Test func disconnectsUnresponsivePeripheralWithError() async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await Recorder.start(radio)
    await BluetoothActor.run { strap.answer = { _ in [] } }.value
    recorder.on("found Strap") { me in
      me.central.stopScan()
      me.peripherals["Strap"].map { me.central.connect($0) }
    }
    recorder.on("connected Strap") { $0.peripherals["Strap"]?.discoverServices() }
    await recorder.perform { $0.central.scanForPeripherals() }
    await recorder.until("disconnected Strap connectionTimeout, disconnected")
    // A request that is made when the time of the first one is over has its error.
    let errors = ["services nil notConnected", "services nil connectionTimeout"]
    #expect(errors.contains(recorder.log.dropFirst(3).first ?? ""), "\(recorder.log)")
    #expect(recorder.log.count == 5)
    await radio.close()
  }

  @Test func theBytesOfAHostilePeerAreErrors() async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await Recorder.start(radio)
    await recorder.connect("Strap")
    let answers: [[UInt8]] = [
      [0x11], [0x11, 0x06, 0x05, 0x00, 0x01, 0x00, 0x0D, 0x18], [0x01, 0x10, 0x00, 0x00, 0x80],
      [0x11, 0x07, 0x01, 0x00, 0x05, 0x00, 0x0D, 0x18, 0x00],
    ]
    for (index, bytes) in answers.enumerated() {
      await BluetoothActor.run { strap.answer = { $0.first == 0x10 ? bytes : nil } }.value
      await recorder.perform { me in
        me.on("services nil unknown") { $0.note("error") }
        me.on("services nil other(128)") { $0.note("error") }
        me.peripherals["Strap"]?.discoverServices()
      }
      await recorder.until("error", count: index + 1)
    }
    await radio.close()
  }

  @Test func aRefusedReadHasTheCodeOfThePeer() async {
    let strap = await Devices.strap()
    let (recorder, radio) = await connected(strap)
    await BluetoothActor.run { strap.answer = { $0.first == 0x0A ? [0x01, 0x0A, $0[1], $0[2], 0x05] : nil } }
      .value
    await recorder.perform { me in me.peripherals["Strap"]?.readValue(for: me.characteristic("2A38")) }
    await recorder.until("value 2A38 [] insufficientAuthentication")
    await radio.close()
  }
}
