import HaloRaw

/// What docs/library.md and docs/replay.md show of a program: here it is compiled. Tests/Interop/program/test_docs.py
/// compares.
enum PageFragments {
  static func errors(_ radio: Radio) async throws {
    do {
      let sensor = try await radio.connect(to: .service("180F"), within: .seconds(10))
      print("battery", try await sensor.read(.batteryLevel))
    } catch BluetoothError.Code.notFound {
      print("out of reach")
    } catch let error as BluetoothError {
      print(error.code, error.attCode as Any)
    }
  }

  static func recording() async throws {
    try await withRadio("hci0", recordingTo: "session.btsnoop") { radio in
      let sensor = try await radio.connect(to: .service("180D"))
      print(try await sensor.read(.batteryLevel))
    }
  }
}
