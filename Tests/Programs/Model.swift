import HaloRaw

/// A class of the main actor, as behind a window, which uses most of what there is.
@MainActor
final class Model {
  private(set) var rates: [Int] = []
  private(set) var text = ""
  private var radio: Radio?

  func run() async throws {
    try await withRadio { radio in
      let connection = try await radio.connect(to: .name("Strap"), within: .seconds(5), reconnect: .forever)
      var last: Instant?
      for try await beat in connection.values(of: .heartRateMeasurement) {
        self.rates.append(Int(beat.value.beatsPerMinute))
        if let last, beat.time - last > .seconds(2) || beat.gap != nil { self.text = "after a pause" }
        last = beat.time
      }
      let control = CharacteristicID<[UInt8]>("2A39", in: "180D")
      try await connection.write([1, 2], to: control)
      try await connection.withValues(of: control) { values in
        try await connection.writeWithoutResponse([1], to: control)
        for try await answer in values {
          self.text = "\(answer.value), \(answer.dropped) dropped"
          break
        }
      }
      try await connection.withValues(of: .heartRateMeasurement) { bytes, time in
        print(time, bytes.byteCount)
      } _: {
        self.rates.removeAll()
        try await Task.sleep(for: .seconds(1))
      }
      for try await sample in try await Ring(connection).samples { self.text = "\(sample.value)" }
      for try await event in connection.events where event.kind == .lost { self.text = event.description }
    }
  }

  /// Without a scope: the radio is kept in the object.
  func keep() async {
    do {
      let radio = try await Radio.open("virtual")
      self.radio = radio
      for service in try await radio.connect(to: .any).services() {
        for characteristic in service.characteristics where characteristic.properties.contains(.notify) {
          text += "\(characteristic.uuid) "
        }
      }
      try await radio.close()
    } catch BluetoothError.Code.linkLost {
      text = "out of reach"
    } catch let error as BluetoothError where error.mayHaveTakenEffect {
      text = "perhaps"
    } catch {
      text = "\(error)"
    }
  }

  /// A closure before a `catch` for one code has crashed a compiler.
  func retry(_ addresses: [BluetoothAddress]) async throws {
    guard let first = addresses.first(where: { $0.kind == .random }), let radio else { return }
    do {
      _ = try await radio.connect(to: .address(first))
    } catch BluetoothError.Code.timedOut {
      text = "again"
    }
  }

  func nearby() async throws -> [String] {
    var names: [String] = []
    guard let radio else { return [] }
    let far = DeviceSelector.matching { ($0.lastRSSI ?? 0) < -80 }
    for try await device in radio.advertisements(of: far, keepingNewest: 16) {
      names.append(device.localName ?? "\(device.address)")
      if names.count == 10 { break }
    }
    return names
  }
}
