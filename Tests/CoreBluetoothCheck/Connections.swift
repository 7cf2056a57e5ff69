import CoreBluetooth

// Scenarios about the manager, its scans and connections.

/// The first state comes for a delegate that is set at once, and for one that is set later. Nothing that is asked for in a bad
/// state does any harm. With the argument `poweredOn`, the adapter is waited for.
func state(_ early: Watcher) {
  let late = Watcher("late")
  late.perform { late.central = CBCentralManager(delegate: nil, queue: late.queue) }
  early.perform { early.central = CBCentralManager(delegate: early, queue: early.queue) }
  early.until("state:")
  early.perform {
    guard early.central?.state != .poweredOn else { return }
    early.central?.scanForPeripherals()
    early.central?.connect(early.retrieve("68616C6F-7261-8077-8001-D25C0A1E5000", as: "Strap"))
    early.central?.stopScan()
    early.expect(early.central?.isScanning == false, "it scans")
  }
  late.perform {
    late.expect(late.count("state:") == 0, "a state without a delegate")
    late.central?.delegate = late
  }
  late.until("state:")
  guard CommandLine.arguments.contains("poweredOn") else { return }
  early.until("state: poweredOn")
  late.until("state: poweredOn")
}

/// A connection to a ring that is out of reach waits; the scan and the other connection go on; it is established when the
/// ring is in reach.
func rings(_ me: Watcher) {
  me.start()
  let far = me.perform { () -> CBPeripheral in
    let far = me.retrieve(CommandLine.arguments[2], as: "Far")
    me.central?.connect(far)
    return far
  }
  me.connect("R02_0001")
  me.discover("R02_0001")
  me.scan()
  me.until("found Strap")
  me.readBattery(of: "R02_0001")
  me.expect(far.state == .connecting, "the ring out of reach is \(far.state)")
  me.note("waiting", isCall: false)
  me.until("connected Far")
  me.expect(me.central?.isScanning == true, "the scan has ended")
  me.readBattery(of: "R02_0001")
  me.perform { me.peripherals["Far"] = far }
  me.discover("Far")
  me.readBattery(of: "Far")
  me.disconnect("Far")
  me.disconnect("R02_0001")
}

/// Cancels and connects again at once, as programs do that start afresh: with a link, and before there is one.
func again(_ me: Watcher) {
  me.start()
  me.connect("Strap")
  me.perform { me.isConnectingAgain = true }
  for _ in 0..<5 {
    me.perform {
      me.central?.cancelPeripheralConnection(me.peripheral("Strap"))
      me.central?.connect(me.peripheral("Strap"))
    }
    me.until("disconnected Strap: as asked", "connected Strap")
    me.discover("Strap")
    me.readBattery(of: "Strap")
  }
  me.perform { me.central?.cancelPeripheralConnection(me.peripheral("Strap")) }
  me.until("disconnected Strap: as asked")
  // At once: an attempt whose end was told meanwhile would be another one.
  me.perform {
    for _ in 0..<5 {
      me.central?.connect(me.peripheral("Strap"))
      me.central?.cancelPeripheralConnection(me.peripheral("Strap"))
    }
  }
  me.until("disconnected Strap: as asked")
  me.perform { me.central?.connect(me.peripheral("Strap")) }
  me.until("connected Strap")
  me.perform { me.isConnectingAgain = false }
  me.discover("Strap")
  me.readBattery(of: "Strap")
  me.disconnect("Strap")
}

/// The manager holds a peripheral while it is being connected and while it is connected, and no longer.
func hold(_ me: Watcher) {
  me.start()
  weak var ring: CBPeripheral?
  me.perform {
    let retrieved = me.retrieve(CommandLine.arguments[2], as: "Ring")
    ring = retrieved
    me.central?.connect(retrieved)
  }
  me.perform { me.expect(ring?.state == .connecting, "it is not held while it is being connected") }
  me.note("waiting", isCall: false)
  me.until("connected Ring")
  me.perform { me.expect(ring?.state == .connected, "it is not held while it is connected") }
  me.perform { if let ring { me.central?.cancelPeripheralConnection(ring) } }
  me.until("disconnected Ring: as asked")
  me.perform { me.expect(ring == nil, "it is held after the connection") }
}

/// Prints the identifier, with which the next process connects.
func meet(_ me: Watcher) {
  me.start()
  me.connect("Strap")
  me.note("identifier: \(me.peripheral("Strap").identifier)", isCall: false)
  me.disconnect("Strap")
}

/// Connects to what an earlier process has met, without a scan. A scan finds it under the same identifier.
func meetAgain(_ me: Watcher) {
  me.start()
  let strap = me.perform { () -> CBPeripheral in
    let strap = me.retrieve(CommandLine.arguments[2], as: "Strap")
    me.expect(strap.name == "Strap", "its name is \(strap.name ?? "unknown")")
    me.central?.connect(strap)
    return strap
  }
  me.until("connected Strap")
  me.perform { me.peripherals["Strap"] = strap }
  me.discover("Strap")
  me.readBattery(of: "Strap")
  me.disconnect("Strap")
  me.scan()
  me.until("found Strap")
  me.expect(me.peripheral("Strap") === strap, "another object for the same peripheral")
}

private let restoring = [CBCentralManagerOptionRestoreIdentifierKey: "check"]

/// Ends while it is connected.
func abandon(_ me: Watcher) {
  me.start(options: restoring)
  me.connect("Strap")
}

/// Gets what an earlier process has abandoned before the first state, and its connection after it.
func restore(_ me: Watcher) {
  me.start(options: restoring)
  me.until("connected Strap")
  me.discover("Strap")
  me.readBattery(of: "Strap")
  me.disconnect("Strap")
}

/// A manager that is gone ends its own scan and its own connection. Those of another one go on.
func managers(_ mine: Watcher) {
  let other = Watcher("other")
  mine.start()
  other.start()
  other.connect("Strap")
  other.discover("Strap")
  mine.connect("R02_0001")
  for watcher in [mine, other] {
    watcher.scan(allowsDuplicates: true)
    watcher.until("found R02_0002")
  }
  weak var gone: CBCentralManager?
  mine.perform {
    gone = mine.central
    mine.central = nil
    mine.peripherals = [:]
  }
  let found = mine.perform { mine.count("found ") }
  mine.expect(gone == nil, "the manager is not gone")
  // It advertises again, as its connection has ended.
  other.until("found R02_0001")
  other.until("found R02_0002", "found R02_0001", "found R02_0002")
  other.readBattery(of: "Strap")
  mine.perform { mine.expect(mine.count("found ") == found, "the scan goes on") }
  other.perform { other.central?.stopScan() }
  other.disconnect("Strap")
}
