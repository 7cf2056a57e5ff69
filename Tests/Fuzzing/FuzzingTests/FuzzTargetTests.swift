import FuzzTargets
import TestSupport
import Testing

/// Each target with the seeds of the corpus and what a fixed generator makes of them: what libFuzzer does for hours,
/// for a moment, and the same in each run. Findings of libFuzzer are kept as seeds, under a name that says what they
/// were.
@Suite struct FuzzTargetTests {
  private static let folder = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")

  @Test(arguments: FuzzTarget.all.filter { $0.name != "client" && $0.name != "replay" }.map(\.name))
  func runsSeedsAndMutationsWithoutCrashing(_ name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    let folder = "\(Self.folder)/Corpus/\(name)"
    let seeds = Disk.names(in: folder).compactMap { Disk.bytes(of: "\(folder)/\($0)") }
    #expect(!seeds.isEmpty, "Tests/Fuzzing/Corpus/\(name) has seeds")
    var random = SeededGenerator(seed: 9)
    for seed in seeds {
      target.run(seed)
      for _ in 0..<10 { target.run(mutation(of: seed, &random)) }
    }
  }

  /// Changes a few bytes, cuts, repeats a piece, or puts in random ones.
  private func mutation(of seed: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = seed
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      guard !bytes.isEmpty else { return random.bytes(8) }
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch random.next() % 5 {
      case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
      case 1: bytes[place] ^= 1 << (random.next() % 8)
      case 2: bytes.removeSubrange(place...)
      case 3: bytes.insert(contentsOf: bytes[place...].prefix(16), at: place)
      default: bytes.insert(contentsOf: random.bytes(4), at: place)
      }
    }
    return bytes
  }
}
