import ATT
import Glibc
import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import HaloRecording

/// What a user of a replay relies on, with random programs and captures: every notification and
/// indication on a handle that the program has subscribed to comes exactly once, in the order of its handle, not before
/// what caused it, and the replay does not end before the last one.
///
/// Captures of a yeelock lock (cnrd/yeelock), of batteries (syssi/esphome-jk-bms), of a bottle (choonkiatlee/wban-python),
/// of glasses on an iPhone (havvk/even-g2-smart-classroom) and of a bed (danisla/iot-bed) lost, doubled or reordered values
/// when a replay went by rules of thumb; the generated ones are of these kinds.
@BluetoothActor
@Suite(.onTheLoop, .serialized) struct ReplayInvariantTests {
  @Test func generatedCapturesReplayWhole() async throws {
    for seed in 1...250 as ClosedRange<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var traffic = GeneratedTraffic()
      let connection = traffic.connection(&generator)
      let peripheral = try ReplayedPeripheral(RecordedTraffic(connections: [connection]))
      for program in 0..<3 {
        try await check(peripheral, "seed \(seed), program \(program)", &generator, listens: program == 0)
      }
    }
  }

  @Test func recordedSessionsReplayWhole() async throws {
    var generator = SeededGenerator(seed: 39)
    let recordings = self.recordings
    #expect(recordings.count > 100)
    for path in recordings {
      guard let traffic = try? RecordedTraffic(path: path), !traffic.connections.isEmpty else { continue }
      let peripheral = try ReplayedPeripheral(traffic)
      for program in 0..<2 {
        try await check(peripheral, "\(path), program \(program)", &generator, listens: program == 0)
      }
    }
  }

  /// The paths of the recordings of the project.
  private var recordings: [String] {
    let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    return ["captures/*.btsnoop", "captures/*/*.btsnoop"].flatMap { pattern in
      var found = glob_t()
      defer { globfree(&found) }
      guard glob("\(root)/\(pattern)", 0, nil, &found) == 0 else { return [String]() }
      return (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
    }
  }

  private func check(
    _ peripheral: ReplayedPeripheral, _ name: String, _ generator: inout SeededGenerator, listens: Bool
  ) async throws {
    let program = RandomProgram(peripheral, &generator, listens: listens)
    let run = try await program.run(on: peripheral)
    let faults = run.faults(of: program)
    #expect(faults.isEmpty, "\(name): \(faults.joined(separator: "; "))")
  }
}
