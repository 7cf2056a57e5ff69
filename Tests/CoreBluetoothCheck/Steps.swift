import CoreBluetooth

// What several scenarios do.

enum Values {
  static let battery = "2A19"
  static let controlPoint = "2A39"
  static let raw = "48414C4F-0101-4000-8000-535452415000"
}

/// What a control point takes.
enum Command {
  /// The peripheral disconnects. Smaller numbers are sent back as raw values.
  static let leave: UInt8 = 0xFF
  /// The peripheral refuses it.
  static let unknown: UInt8 = 0x80
}

extension Watcher {
  /// A manager that is powered on.
  func start(options: [String: Any]? = nil) {
    perform { central = CBCentralManager(delegate: self, queue: queue, options: options) }
    until("state: poweredOn")
  }

  func scan(allowsDuplicates: Bool = false) {
    perform {
      central?.scanForPeripherals(options: [CBCentralManagerScanOptionAllowDuplicatesKey: allowsDuplicates])
    }
  }

  func connect(_ name: String) {
    scan()
    until("found \(name)")
    perform {
      central?.stopScan()
      central?.connect(peripheral(name))
    }
    until("connected \(name)")
  }

  func disconnect(_ name: String) {
    perform { central?.cancelPeripheralConnection(peripheral(name)) }
    until("disconnected \(name): as asked")
  }

  /// Discovers all services and characteristics.
  func discover(_ name: String) {
    perform { peripheral(name).discoverServices(nil) }
    until("services of \(name):")
    let services = perform { peripheral(name).services ?? [] }
    perform {
      for service in services { peripheral(name).discoverCharacteristics(nil, for: service) }
    }
    until(services.map { "characteristics of \($0.uuid.uuidString):" })
  }

  /// Reads the battery, which answers if the connection is as it should be. What was asked for earlier is answered earlier.
  func readBattery(of name: String) {
    perform { peripheral(name).readValue(for: characteristic(Values.battery, of: name)) }
    until("value \(Values.battery): 51")
  }

  func write(_ command: UInt8, to name: String) {
    perform {
      let controlPoint = characteristic(Values.controlPoint, of: name)
      peripheral(name).writeValue(Data([command]), for: controlPoint, type: .withResponse)
    }
  }

  func peripheral(_ name: String) -> CBPeripheral {
    guard let found = peripherals[name] else { fail("no peripheral \(name)") }
    return found
  }

  func characteristic(_ uuid: String, of name: String) -> CBCharacteristic {
    let all = (peripheral(name).services ?? []).flatMap { $0.characteristics ?? [] }
    guard let found = all.first(where: { $0.uuid == CBUUID(string: uuid) }) else {
      fail("no characteristic \(uuid)")
    }
    return found
  }

  /// Gets a peripheral by its identifier, without a scan. It is on the queue.
  ///
  /// - Parameter name: what it is called in lines
  func retrieve(_ identifier: String, as name: String) -> CBPeripheral {
    guard let uuid = UUID(uuidString: identifier),
      let found = central?.retrievePeripherals(withIdentifiers: [uuid]).first
    else { fail("no peripheral \(identifier)") }
    expect(found.identifier == uuid, "another identifier")
    labels[uuid] = name
    found.delegate = self
    return found
  }
}
