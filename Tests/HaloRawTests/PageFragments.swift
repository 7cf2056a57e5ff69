import HaloRaw

/// What docs/library.md and docs/replay.md show of a program: here it is compiled. Tests/Interop/program/test_docs.py
/// compares.
@BluetoothActor
enum PageFragments {
  static func errors(_ central: Central, _ device: Advertisement) async {
    do {
      let connection = try await central.connect(to: device)
      let level = try await connection.gatt.readFirst(uuid: "2A19")
      print("battery", level ?? [])
    } catch GAPError.hci(.peerNotFound) {
      print("out of reach")
    } catch GATTError.att(.refused(let response)) {
      print("refused:", response.code)
    } catch {
      print(error)
    }
  }

  static func recording() async throws {
    let opened = try await AdapterSpecification("hci0").open(recordingTo: "session.btsnoop")
    let central = Central(opened.adapter)
    // ...
    await central.stop()
    try await opened.end()
  }
}
