import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

/// Reads all of a file and checks what must hold of any: it ends, goes forward, and gives no bytes that the file
/// does not have.
private func checkReading(_ bytes: [UInt8]) throws -> Int {
  let file = TemporaryFile(bytes)
  guard var reader = try? CaptureReader(path: file.path) else { return 0 }
  var count = 0
  var number = 0
  var offset = -1
  while true {
    do throws(CaptureError) {
      guard try reader.advance() == .record else { break }
    } catch {
      let place = try #require(error.offset)
      try #require(place > offset && place <= bytes.count)
      break
    }
    count += 1
    let info = reader.info
    let length = reader.bytes.byteCount
    try #require(info.number > number)
    number = info.number
    try #require(info.fileOffset > offset)
    offset = info.fileOffset
    // What was put together of several records is longer than the last of them.
    try #require(length <= bytes.count)
  }
  let truncated = reader.truncatedBytes
  try #require(truncated <= bytes.count)
  return count
}

@Suite struct FuzzTests {
  /// Every bit, and every field of four bytes with the values that break things.
  @Test(arguments: samples.indices) func readsMutatedFilesWithoutCrashing(_ index: Int) throws {
    let bytes = samples[index].bytes
    var total = 0
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      total += try checkReading(damaged)
    }
    for offset in 0..<bytes.count - 3 {
      for value: UInt32 in [0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFCFF_FFFF, 0xFFFF_FFFC] {
        var damaged = bytes
        damaged.replaceSubrange(offset..<offset + 4, with: integer(value, big: true))
        total += try checkReading(damaged)
      }
    }
    #expect(total > bytes.count)
  }

  /// Headers that are right, and then anything.
  @Test(arguments: samples.indices) func randomBytesAreRead(_ index: Int) throws {
    var random = SeededGenerator(seed: UInt64(index) + 100)
    let sample = samples[index]
    var total = 0
    for round in 0..<400 {
      let kept = round % 2 == 0 ? sample.header : Int.random(in: 0...sample.bytes.count, using: &random)
      var bytes = Array(sample.bytes[..<kept])
      while bytes.count < 400 {
        // Small numbers make lengths that can be.
        switch UInt8.random(in: 0..<4, using: &random) {
        case 0: bytes += random.bytes(Int.random(in: 0..<40, using: &random))
        case 1: bytes += [0, 0, 0, UInt8.random(in: 0..<64, using: &random)]
        case 2: bytes += [UInt8.random(in: 0..<64, using: &random), 0, 0, 0]
        default:
          let from = Int.random(in: 0..<sample.bytes.count, using: &random)
          bytes += sample.bytes[from..<min(sample.bytes.count, from + 30)]
        }
      }
      total += try checkReading(bytes)
    }
    #expect(total > 50)
  }

  @Test func readsArbitraryBytesWithoutCrashing() throws {
    var random = SeededGenerator(seed: 9)
    for _ in 0..<1000 {
      _ = try checkReading(random.bytes(Int.random(in: 0..<300, using: &random)))
    }
  }
}
