import HaloRaw

/// Functions of a program that take closures: they run on the actor of their caller, as those of this library do.
nonisolated(nonsending) func withSensor<Result>(
  _ body: (Connection) async throws -> Result
) async throws -> Result {
  try await withRadio("virtual") { radio in
    try await body(try await radio.connect(to: .any))
  }
}

nonisolated(nonsending) func retrying<Value>(
  _ times: Int, _ work: () async throws -> Value
) async throws -> Value {
  for _ in 1..<times {
    do { return try await work() } catch BluetoothError.Code.linkLost {}
  }
  return try await work()
}

@main
enum Helpers {
  static func main() async throws {
    let number = CommandLine.arguments.count
    // A UUID that is put together.
    let id = CharacteristicID<[UInt8]>(
      "6E40000\(number)-B5A3-F393-E0A9-E50E24DCCA9E", in: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E")
    let bytes = try await withSensor { sensor in
      try await retrying(3) { try await sensor.read(id) }
    }
    print(bytes)
  }
}
