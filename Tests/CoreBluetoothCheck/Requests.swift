import CoreBluetooth

// Scenarios about requests and their answers.

/// Values that are sent behind a Write Response come after its call, each with its own value.
func order(_ me: Watcher) {
  me.start()
  me.connect("Strap")
  me.discover("Strap")
  me.perform { me.peripheral("Strap").setNotifyValue(true, for: me.characteristic(Values.raw, of: "Strap")) }
  me.until("notifying \(Values.raw): true")
  for number in 0..<20 {
    me.write(UInt8(number), to: "Strap")
    me.until("value \(Values.raw): \(String(format: "%02x", number))02")
  }
  me.disconnect("Strap")
}

/// Everything readable is read and everything notifying is subscribed to, without waiting; each is answered once.
func everything(_ me: Watcher) {
  me.start()
  me.connect("Sensor")
  me.discover("Sensor")
  let (sent, read) = ("73656e74", "72656164")
  var expected: [String] = []
  me.perform {
    let sensor = me.peripheral("Sensor")
    for characteristic in (sensor.services ?? []).flatMap({ $0.characteristics ?? [] }) {
      let uuid = characteristic.uuid.uuidString
      if characteristic.properties.contains(.read) {
        sensor.readValue(for: characteristic)
        expected.append(uuid.hasPrefix("A") ? "value \(uuid): \(read)" : "value \(uuid):")
      }
      if !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
        sensor.setNotifyValue(true, for: characteristic)
        expected.append("notifying \(uuid): true")
        if uuid.hasPrefix("A") { expected.append("value \(uuid): \(sent)") }
      }
    }
  }
  me.until(expected)
  me.readBattery(of: "Sensor")
  let answers = me.count("value ") + me.count("notifying ")
  me.expect(answers == expected.count + 1, "\(answers) answers to \(expected.count + 1) requests")
  me.disconnect("Sensor")
}

/// After a disconnection, and on attributes of an earlier connection, each use is answered once, with an error.
func misuse(_ me: Watcher) {
  me.start()
  me.connect("Strap")
  me.discover("Strap")
  let strap = me.peripheral("Strap")
  let (stale, service) = me.perform {
    (me.characteristic(Values.controlPoint, of: "Strap"), me.characteristic(Values.raw, of: "Strap").service)
  }
  guard let service else { fail("no service of the raw value") }
  func use() -> [String] {
    strap.readValue(for: stale)
    strap.writeValue(Data([1]), for: stale, type: .withResponse)
    strap.writeValue(Data([1]), for: stale, type: .withoutResponse)
    strap.setNotifyValue(true, for: stale)
    strap.setNotifyValue(false, for: stale)
    strap.discoverDescriptors(for: stale)
    strap.discoverCharacteristics(nil, for: service)
    strap.discoverIncludedServices(nil, for: service)
    let (of, uuid) = ("of \(service.uuid.uuidString)", Values.controlPoint)
    return [
      "value \(uuid)", "wrote \(uuid)", "notifying \(uuid)", "notifying \(uuid)", "descriptors of \(uuid)",
      "characteristics \(of)", "included services \(of)",
    ]
  }
  me.write(Command.leave, to: "Strap")
  me.until("wrote \(Values.controlPoint): done")
  me.until("disconnected Strap: error peripheralDisconnected")
  let unconnected = me.perform { () -> [String] in
    strap.discoverServices(nil)
    strap.readRSSI()
    me.central?.cancelPeripheralConnection(strap)
    me.central?.cancelPeripheralConnection(strap)
    return use() + ["services of Strap", "rssi"]
  }
  me.until(unconnected.map { "\($0): error notConnected" })
  me.perform {
    me.central?.connect(strap)
    me.central?.connect(strap)
  }
  me.until("connected Strap")
  let outdated = me.perform { use() }
  me.until(outdated.map { "\($0): error invalidHandle" })
  me.discover("Strap")
  me.readBattery(of: "Strap")
  me.write(Command.unknown, to: "Strap")
  me.until("wrote \(Values.controlPoint): error ATT error 128")
  me.perform {
    me.central?.cancelPeripheralConnection(strap)
    me.central?.cancelPeripheralConnection(strap)
    strap.readValue(for: stale)
  }
  me.until("disconnected Strap: as asked", "value \(Values.controlPoint):")
  me.perform {
    me.central?.connect(strap)
    me.central?.cancelPeripheralConnection(strap)
    me.central?.cancelPeripheralConnection(strap)
  }
  me.until("disconnected Strap: as asked")
  me.connect("Strap")
  me.expect(me.count("connected Strap") == 3, "\(me.count("connected Strap")) connections")
  me.expect(me.count("disconnected Strap") == 3, "\(me.count("disconnected Strap")) disconnections")
  me.disconnect("Strap")
}

/// Services that change while connected: the new ones are found, the others stay as they were.
func changes(_ me: Watcher) {
  me.start()
  me.connect("Changing")
  me.discover("Changing")
  func exchanged() -> CBCharacteristic { me.perform { me.characteristic("C0FF", of: "Changing") } }
  let battery = me.perform { me.characteristic(Values.battery, of: "Changing") }
  let old = exchanged()
  guard let oldService = old.service?.uuid.uuidString else { fail("no service") }
  me.until("modified Changing: \(oldService)")
  me.perform { me.peripheral("Changing").readValue(for: old) }
  me.until("value C0FF: error invalidHandle")
  me.discover("Changing")
  let new = exchanged()
  me.expect(new !== old && new.service?.uuid.uuidString != oldService, "the same service")
  me.expect(me.perform { me.characteristic(Values.battery, of: "Changing") } === battery, "another battery")
  me.perform { me.peripheral("Changing").readValue(for: new) }
  me.until("value C0FF:")
  me.readBattery(of: "Changing")
  me.disconnect("Changing")
}

/// A peripheral that misbehaves, or answers nothing: the request is answered once, and the next connection is as good.
func stranger(_ me: Watcher) {
  let isSilent = CommandLine.arguments.dropFirst(2).first == "silent"
  me.start()
  for round in 1...2 {
    me.connect("Stranger")
    me.perform {
      me.peripheral("Stranger").discoverServices(nil)
      if isSilent { me.central?.cancelPeripheralConnection(me.peripheral("Stranger")) }
    }
    me.until("services of Stranger:")
    me.perform { me.central?.cancelPeripheralConnection(me.peripheral("Stranger")) }
    if me.count("disconnected Stranger:") < round { me.until("disconnected Stranger:") }
    me.expect(me.count("services of Stranger:") == round, "answered more than once")
  }
  me.expect(me.count("disconnected Stranger:") == 2, "disconnected more than once")
}
