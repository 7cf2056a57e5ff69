import CoreBluetooth

// A line for each call, with its values.

extension Watcher {
  func label(_ peripheral: CBPeripheral) -> String {
    labels[peripheral.identifier] ?? peripheral.name ?? peripheral.identifier.uuidString
  }

  private func describe(_ error: Error?) -> String? {
    switch error {
    case nil: nil
    case let error as CBError: "\(error.code)"
    case let error as CBATTError: "ATT error \(error.errorCode)"
    case let error?: "\(error)"
    }
  }

  /// The error of an answer, or else its value.
  private func answer(_ error: Error?, _ value: @autoclosure () -> String) -> String {
    describe(error).map { "error \($0)" } ?? value()
  }

  private func list(_ attributes: [CBAttribute]?, _ what: String) -> String {
    guard let attributes else { fail("\(what) were not discovered") }
    return attributes.map(\.uuid.uuidString).joined(separator: " ")
  }
}

extension Watcher: CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) { note("state: \(central.state)") }

  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    let restored = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
    for peripheral in restored {
      peripheral.delegate = self
      peripherals[label(peripheral)] = peripheral
    }
    note("restored: " + restored.map { "\(label($0)) \($0.state)" }.joined(separator: " "))
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    expect(central.isScanning, "a peripheral was found without a scan")
    peripheral.delegate = self
    peripherals[label(peripheral)] = peripheral
    note("found \(label(peripheral))")
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    expect(peripheral.state == .connected, "connected, but \(peripheral.state)")
    expect(peripheral.services == nil, "services of an earlier connection")
    note("connected \(label(peripheral))")
  }

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?
  ) { note("failed \(label(peripheral)): \(answer(error, "no error"))") }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?
  ) {
    expect(
      peripheral.state == .disconnected || isConnectingAgain && peripheral.state == .connecting,
      "disconnected, but \(peripheral.state)")
    expect(peripheral.services == nil, "services after the disconnection")
    note("disconnected \(label(peripheral)): \(answer(error, "as asked"))")
  }
}

extension Watcher: CBPeripheralDelegate {
  func peripheralDidUpdateName(_ peripheral: CBPeripheral) { note("name: \(peripheral.name ?? "none")") }

  func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
    for service in invalidatedServices where peripheral.services?.contains(service) ?? false {
      fail("\(service) is no longer valid, but is still among the services")
    }
    note("modified \(label(peripheral)): \(list(invalidatedServices, "services"))")
  }

  func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: Error?) {
    note("rssi: \(answer(error, "\(rssi)"))")
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    note("services of \(label(peripheral)): \(answer(error, list(peripheral.services, "services")))")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: Error?
  ) {
    let found = answer(error, list(service.includedServices, "included services"))
    note("included services of \(service.uuid.uuidString): \(found)")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?
  ) {
    let found = answer(error, list(service.characteristics, "characteristics"))
    note("characteristics of \(service.uuid.uuidString): \(found)")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: Error?
  ) {
    let found = answer(error, list(characteristic.descriptors, "descriptors"))
    note("descriptors of \(characteristic.uuid.uuidString): \(found)")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?
  ) {
    let value = answer(error, (characteristic.value ?? Data()).map { String(format: "%02x", $0) }.joined())
    note("value \(characteristic.uuid.uuidString): \(value)")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: Error?
  ) { note("wrote \(characteristic.uuid.uuidString): \(answer(error, "done"))") }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
  ) {
    note("notifying \(characteristic.uuid.uuidString): \(answer(error, "\(characteristic.isNotifying)"))")
  }
}
