import HaloRaw

// Lines to a device with the Nordic UART Service and back, as on a serial line: `swift run terminal hci0`. With `serve` as the
// second argument, it is such a device, which sends back what it gets.
let service: BluetoothUUID = "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"
let toDevice = CharacteristicID<[UInt8]>("6E400002-B5A3-F393-E0A9-E50E24DCCA9E", in: service)
let fromDevice = CharacteristicID<[UInt8]>("6E400003-B5A3-F393-E0A9-E50E24DCCA9E", in: service)
let arguments = CommandLine.arguments.dropFirst()

await exitOnError {
  try await withRadio(RadioSelector(arguments.first ?? "hci0")) { radio in
    if arguments.dropFirst().first == "serve" { try await serve(radio) } else { try await talk(radio) }
  }
}

nonisolated(nonsending) func talk(_ radio: Radio) async throws {
  let device = try await radio.connect(to: .service(service))
  try await device.withValues(of: fromDevice) { values in
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for try await value in values { print(String(decoding: value.value, as: UTF8.self), terminator: "") }
      }
      for await line in lines() {
        // A line has as many packets as it needs.
        let room = await device.status().maximumValueLength
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
          try await device.writeWithoutResponse(Array(rest.prefix(room)), to: toDevice)
          rest = rest.dropFirst(room)
        }
      }
      // What is on its way still comes.
      try await radio.clock.sleep(for: .seconds(1))
      group.cancelAll()
    }
  }
}

nonisolated(nonsending) func serve(_ radio: Radio) async throws {
  let answers = LocalCharacteristic(fromDevice, [], properties: .notify)
  let commands = LocalCharacteristic(toDevice) { bytes, client in
    try await answers.notify(bytes, to: client)
  }
  try await radio.serve([LocalService(service, commands, answers)], as: "Echo") { server in
    for try await client in server.connections { print("connected:", client.peer) }
  }
}

/// The lines of standard input, which a thread of its own waits for.
func lines() -> AsyncStream<String> {
  AsyncStream { stream in
    Task.detached {
      while let line = readLine() { stream.yield(line) }
      stream.finish()
    }
  }
}
