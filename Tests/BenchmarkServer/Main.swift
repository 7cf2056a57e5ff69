import Glibc
import HaloRaw

/// What is measured: a program of the library that sends a heart rate to devices as fast as their links take it.
///
///     benchmark-server RADIO CENTRALS COUNT
@main
enum BenchmarkServer {
  /// Not `async`: callgrind does not survive the end of the main thread.
  static func main() {
    Task.detached {
      await exitOnError { try await serve() }
      exit(0)
    }
    while true { pause() }
  }

  private static func serve() async throws {
    let arguments = CommandLine.arguments
    let centrals = Int(arguments[2]) ?? 1
    let count = Int(arguments[3]) ?? 1
    let rate = LocalCharacteristic(CharacteristicID<[UInt8]>("2A37", in: "180D"), [0, 60])
    try await withRadio(RadioSelector(arguments[1])) { radio in
      try await radio.serve([LocalService("180D", rate)], as: "Heart", maximumConnections: centrals) { _ in
        for try await subscribers in rate.subscriberCounts where subscribers == centrals { break }
        for number in 0..<count { try await rate.notify([0, UInt8(number % 200)]) }
      }
    }
  }
}
