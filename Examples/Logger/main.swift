import HaloRaw

// The heart rates of several straps at once, as lines of CSV: `swift run logger hci0 C0:11:22:33:A1:B2 C0:11:22:33:A1:B3`. A
// strap that goes out of reach is waited for, and the next line of it says how long nothing came.
await exitOnError {
  let arguments = CommandLine.arguments.dropFirst()
  let straps = arguments.dropFirst().compactMap { BluetoothAddress($0) }
  guard let adapter = arguments.first, !straps.isEmpty else {
    throw BluetoothError(.invalidValue, "usage: logger ADAPTER ADDRESS...")
  }
  try await withRadio(RadioSelector(adapter)) { radio in
    let begin = radio.clock.now
    print("seconds,address,bpm,gap")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for address in straps {
        group.addTask {
          let strap = try await radio.connect(to: .address(address), reconnect: .forever)
          for try await beat in strap.values(of: .heartRateMeasurement) {
            let seconds = (beat.time - begin) / .seconds(1)
            let gap = beat.gap.map { "\($0 / .seconds(1))" } ?? ""
            print("\(seconds),\(address),\(beat.value.beatsPerMinute),\(gap)")
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
