import HaloRaw

// What is near by, and what it says of itself: `swift run inventory hci0`. A device that does not answer costs ten seconds.
await exitOnError {
  try await withRadio(RadioSelector(CommandLine.arguments.dropFirst().first ?? "hci0")) { radio in
    for device in try await radio.devices(within: .seconds(5)) where device.isConnectable {
      var words = ["\(device.address)", device.localName ?? "(no name)"]
      do {
        words += try await radio.withTimeout(.seconds(10)) {
          try await description(of: try await radio.connect(to: .address(device.address)))
        }
      } catch let error as BluetoothError {
        words.append("(\(error.code))")
      }
      print(words.joined(separator: ", "))
    }
  }
}

/// What a device has of the strings of Device Information, and the end of its link.
nonisolated(nonsending) func description(of device: Connection) async throws -> [String] {
  var words: [String] = []
  for id: CharacteristicID<String> in [.manufacturerName, .modelNumber, .firmwareRevision] {
    do {
      words.append(try await device.read(id))
    } catch BluetoothError.Code.notFound {
      // Many devices leave some of them out.
    }
  }
  await device.disconnect()
  return words
}
