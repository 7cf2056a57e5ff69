import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloCapture

/// Reading goes on behind a damaged record, if that is wanted.
@Suite struct RecordSearchTests {
  private static let formats = ["btsnoop", "monitor", "pcap", "pcapng", "PacketLogger"]

  /// A file of a header and records, of which each has a number of its own.
  private func file(_ format: String, _ count: Int) -> (header: [UInt8], records: [[UInt8]]) {
    let pcap = PCAPBytes(), pcapng = PCAPNGBytes()
    let packets = (0..<count).map { number in
      [4, 0x3E, 20] + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 20)
    }
    return switch format {
    case "btsnoop": (btsnoop(1002), packets.map { btsnoopRecord($0, flags: 3) })
    case "monitor": (btsnoop(2001), packets.map { btsnoopRecord(Array($0.dropFirst()), flags: 3) })
    case "pcap": (pcap.header(linkType: 187), packets.map { pcap.record($0) })
    case "pcapng": (pcapng.section() + pcapng.interface(187), packets.map { pcapng.packet($0) })
    default: ([], packets.map { packetLoggerRecord(1, Array($0.dropFirst()), big: true) })
    }
  }

  /// What is read, by the numbers in the packets, and the error at the end.
  private func read(_ bytes: [UInt8], skipsDamage: Bool = true) throws -> (
    numbers: [UInt8], error: CaptureError?
  ) {
    let file = TemporaryFile(bytes)
    var reader = try CaptureReader(try CaptureSource([file.path]), skipsDamage: skipsDamage)
    var numbers: [UInt8] = []
    do throws(CaptureError) {
      while let record = try reader.next() { numbers.append(record.bytes.last ?? 0) }
      return (numbers, nil)
    } catch {
      return (numbers, error)
    }
  }

  @Test(arguments: formats) func readingGoesOnBehindADamagedLength(format: String) throws {
    let (header, records) = file(format, 9)
    for damaged in [1, 4, 7] {
      var bytes = header
      for (number, record) in records.enumerated() {
        var record = record
        // The length is among these.
        if number == damaged { for place in (format == "pcapng" ? 4 : 0)..<12 { record[place] = 0xF5 } }
        bytes += record
      }
      let found = try read(bytes)
      #expect(found.numbers == (0..<9).filter { $0 != damaged }.map { UInt8($0) })
      let error = try #require(found.error)
      #expect(error.offset == header.count + records[..<damaged].reduce(0) { $0 + $1.count })
      #expect(error.leftOut == records[damaged].count && error.otherPlaces == 0)
      #expect("\(error)".contains("\(records[damaged].count) bytes are left out, and what follows is read"))
      let first = try read(bytes, skipsDamage: false)
      #expect(first.numbers == (0..<damaged).map { UInt8($0) } && first.error?.leftOut == 0)
    }
  }

  @Test(arguments: formats) func severalPlacesAreCounted(format: String) throws {
    let (header, records) = file(format, 30)
    var bytes = header
    for (number, record) in records.enumerated() {
      bytes += record
      if number % 10 == 5 { bytes += [UInt8](repeating: 0xFF, count: 40 + number) }
    }
    let found = try read(bytes)
    #expect(found.numbers == (0..<30).map { UInt8($0) })
    #expect(found.error?.leftOut == 45 && found.error?.otherPlaces == 2)
  }

  /// A megabyte of a disk that was full, or of another file.
  @Test(arguments: [0, 0xFF, nil] as [UInt8?]) func findsRecordsAfterALargeDamagedRegion(byte: UInt8?) throws
  {
    var random = SeededGenerator(seed: 5)
    let (header, records) = file("btsnoop", 8)
    let other = byte.map { [UInt8](repeating: $0, count: 1_500_000) } ?? random.bytes(1_500_000)
    let found = try read(
      header + records[..<4].joined() + [0xFF, 0xFF, 0xFF, 0xFF] + [0xFF, 0xFF, 0xFF, 0xFF] + other
        + records[4...].joined())
    #expect(found.numbers == (0..<8).map { UInt8($0) } && found.error?.leftOut == other.count + 8)
  }

  @Test(arguments: formats) func reportsDamageUntilEndOfFile(format: String) throws {
    let (header, records) = file(format, 3)
    let found = try read(header + records.joined() + [UInt8](repeating: 0xF5, count: 500))
    #expect(found.numbers.count == 3)
    let error = try #require(found.error)
    #expect(error.leftOut == 0 && "\(error)".contains("damaged from here on"))
  }

  /// Reading ends, and gives no record twice, whatever is in the file.
  @Test(arguments: formats) func readsRandomlyDamagedFilesToTheEnd(format: String) throws {
    var random = SeededGenerator(seed: 17)
    let (header, records) = file(format, 40)
    let whole = header + records.joined()
    for _ in 0..<200 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        // The format of a file without a header is recognized by its first record.
        let place = Int.random(in: header.count + records[0].count..<bytes.count, using: &random)
        bytes[place] = UInt8.random(in: .min ... .max, using: &random)
      }
      let found = try read(bytes)
      #expect(found.numbers.count <= 40)
    }
  }
}
