import HaloRaw

// A thermometer that phones find, read and subscribe to: `swift run thermometer hci0`.
await exitOnError {
  let temperature = LocalCharacteristic(.temperature, 20)
  try await withRadio(RadioSelector(CommandLine.arguments.dropFirst().first ?? "hci0")) { radio in
    try await radio.serve([LocalService("181A", temperature)], as: "Thermometer") { server in
      print(server.address)
      for step in 0... {
        try await temperature.notify(Celsius(20 + Double(step % 50) / 10))
        try await radio.clock.sleep(for: .seconds(1))
      }
    }
  }
}
