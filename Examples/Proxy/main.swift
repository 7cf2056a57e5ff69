import HaloRaw

// Offers the services of another device under a name of its own, and passes on what is read, written and notified:
// `swift run proxy hci0 "Halo Strap"`.
await exitOnError {
  let arguments = CommandLine.arguments.dropFirst()
  guard arguments.count == 2, let adapter = arguments.first, let name = arguments.last else {
    throw BluetoothError(.invalidValue, "usage: proxy ADAPTER NAME")
  }
  try await withRadio(RadioSelector(adapter)) { radio in
    let device = try await radio.connect(to: .name(name), reconnect: .forever)
    var services: [LocalService] = []
    var sending: [LocalCharacteristic<[UInt8]>] = []
    // Each device has Generic Access and Generic Attribute: the proxy its own.
    for found in try await device.services() where ![0x1800, 0x1801].contains(found.uuid) {
      var service = LocalService(found.uuid, isAdvertised: services.isEmpty)
      for characteristic in found.characteristics {
        let id = characteristic.id
        let local = LocalCharacteristic(id, properties: characteristic.properties) { _ in
          try await device.read(id)
        } write: { bytes, _ in
          try await device.write(bytes, to: id)
        }
        service.add(local)
        if !characteristic.properties.isDisjoint(with: [.notify, .indicate]) { sending.append(local) }
      }
      services.append(service)
    }
    try await radio.serve(services, as: "Proxy") { server in
      print("\(services.count) services of \(device.peer) at \(server.address)")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for local in sending { group.addTask { try await pass(device, local) } }
        try await group.waitForAll()
      }
    }
  }
}

/// Subscribes at the device for as long as somebody has subscribed at the proxy.
func pass(_ device: Connection, _ local: LocalCharacteristic<[UInt8]>) async throws {
  var task: Task<Void, any Error>?
  for try await count in local.subscriberCounts where (count > 0) != (task != nil) {
    task?.cancel()
    task = nil
    guard count > 0 else { continue }
    task = Task { for try await value in device.values(of: local.id) { try await local.notify(value.value) } }
  }
}
