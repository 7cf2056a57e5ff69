import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

/// Files of each format, with three records each.
let samples: [(format: String, header: Int, bytes: [UInt8])] = {
  let command = hex("01030c00")
  let event = hex("040e0401030c00")
  let pcap = PCAPBytes(), swapped = PCAPBytes(big: true, nanoseconds: true)
  let pcapng = PCAPNGBytes(), big = PCAPNGBytes(big: true)
  return [
    (
      "btsnoop H1", 16,
      btsnoop(
        1001, btsnoopRecord(hex("030c00"), flags: 2), btsnoopRecord(hex("0e00"), flags: 3),
        btsnoopRecord(hex("4000"), flags: 0))
    ),
    (
      "btsnoop H4", 16,
      btsnoop(
        1002, btsnoopRecord(command, flags: 2), btsnoopRecord(event, flags: 3), btsnoopRecord([2], flags: 0))
    ),
    (
      "btsnoop monitor", 16,
      btsnoop(
        2001, btsnoopRecord(hex("4c00"), flags: 0xFFFF_000C), btsnoopRecord(hex("030c00"), flags: 2),
        btsnoopRecord(hex("0e00"), flags: 3))
    ),
    (
      "pcap", 24,
      pcap.header(linkType: 201) + pcap.record([0, 0, 0, 0] + command) + pcap.record([0, 0, 0, 1] + event)
        + pcap.record([0, 0, 0, 1])
    ),
    (
      "pcap, big-endian, nanoseconds", 24,
      swapped.header(linkType: 254) + swapped.record(hex("0000 0002 030c00"))
        + swapped.record(hex("0000 0003 0e00")) + swapped.record(hex("ffff 000c"))
    ),
    (
      "pcapng", 28,
      pcapng.section()
        + pcapng.interface(187, snapLength: 65_535, options: pcapng.option(9, [9]) + pcapng.option(0, []))
        + pcapng.packet(command, options: pcapng.option(2, [2, 0, 0, 0])) + pcapng.block(77, [1, 2, 3])
        + pcapng.packet(event) + pcapng.simplePacket(event)
    ),
    (
      "pcapng, big-endian", 28,
      big.section() + big.interface(201) + big.interface(254) + big.packet([0, 0, 0, 0] + command)
        + big.packet([0, 0, 0, 1] + event) + big.packet(hex("0000 0003 0e00"), interface: 1)
    ),
    (
      "pcap of usbmon", 24,
      pcap.header(linkType: 189) + pcap.record(USBBytes().command("030c00"))
        + pcap.record(USBBytes().transfer(1, 0x81, isEnd: true, hex("0e04 01")))
        + pcap.record(USBBytes().transfer(1, 0x81, isEnd: true, hex("030c 00")))
        + pcap.record(USBBytes(device: 4).transfer(1, 0x81, isEnd: true, [0, 0, 4]))
    ),
    (
      "pcapng of USBPcap, big-endian", 28,
      big.section() + big.interface(249) + big.packet(USBBytes(linkType: 249).command("030c00"))
        + big.packet(USBBytes(linkType: 249).transfer(1, 0x81, isEnd: true, hex("0e04 01")))
        + big.packet(USBBytes(linkType: 249).transfer(1, 0x81, isEnd: true, hex("030c 00")))
        + big.packet(USBBytes(linkType: 249).transfer(3, 0x02, hex("4020 0000")))
    ),
    (
      "PacketLogger", 0,
      packetLoggerRecord(0, hex("030c00"), big: true) + packetLoggerRecord(1, hex("0e00"), big: true)
        + packetLoggerRecord(0xFC, [], big: true)
    ),
    (
      "PacketLogger, little-endian", 0,
      packetLoggerRecord(0, hex("030c00"), big: false) + packetLoggerRecord(0xFB, [1], big: false)
        + packetLoggerRecord(3, hex("40200000"), big: false)
    ),
  ]
}()

@Suite struct DamageTests {
  @Test func reportsWhyAFileIsNotACapture() {
    #expect(Reading([]).error?.reason == .empty)
    #expect(Reading(Array("#!/bin/sh\necho this is not a capture\n".utf8)).error?.reason == .unknownFormat)
    #expect(Reading(hex("0a0d0d0a") + btsnoop(1002)).error?.reason == .unknownFormat)
    #expect(Reading([UInt8](repeating: 0, count: 1000)).error?.reason == .unknownFormat)
    #expect(Reading(btsnoop(1002, version: 2)).error?.reason == .unsupportedVersion("btsnoop", 2))
    for datalink: UInt32 in [0, 1000, 1003, 1004, 2002, .max] {
      #expect(
        Reading(btsnoop(datalink)).error?.reason == .unsupportedDatalink(BTSnoop.Datalink(rawValue: datalink))
      )
    }
    #expect(
      Reading(PCAPBytes().header(linkType: 201, version: 3)).error?.reason == .unsupportedVersion("pcap", 3))
    #expect(Reading(PCAPNGBytes().section(major: 9)).error?.reason == .unsupportedVersion("pcapng", 9))
    guard case .cannotOpen = Reading(path: "/nonexistent/file").error?.reason,
      case .cannotOpen = Reading(path: "/tmp").error?.reason
    else {
      Issue.record("no file, or a directory")
      return
    }
  }

  /// Cut anywhere: all whole records are there, and how many bytes are left over.
  @Test(arguments: samples.indices) func readsWholeRecordsOfTruncatedFile(_ index: Int) {
    let sample = samples[index]
    let whole = Reading(sample.bytes)
    #expect(whole.records.count == 3 && whole.error == nil && whole.truncated == 0, "\(sample.format)")
    let ends = whole.records.dropFirst().map(\.info.fileOffset) + [sample.bytes.count]
    var wholeBytes = sample.header
    for length in 1...sample.bytes.count {
      let reading = Reading(Array(sample.bytes[..<length]))
      guard length >= max(sample.header, 13) else {
        let reason = reading.error?.reason
        if case .truncatedHeader = reason { continue }
        #expect(reason == .unknownFormat, "\(sample.format), \(length)")
        continue
      }
      #expect(reading.error == nil, "\(sample.format), \(length)")
      #expect(reading.records == Array(whole.records.prefix(reading.records.count)))
      #expect(reading.records.count >= ends.prefix { $0 <= length }.count)
      if reading.truncated == 0 { wholeBytes = length }
      #expect(reading.truncated == length - wholeBytes, "\(sample.format), \(length)")
      #expect(!ends.contains(length) || reading.truncated == 0, "\(sample.format), \(length)")
    }
  }

  @Test func theEndOfACutFileIsCounted() {
    let whole = btsnoop(1002, btsnoopRecord([1], flags: 0))
    for length in 0..<28 {
      let reading = Reading(whole + btsnoopRecord([1, 2, 3, 4], flags: 0).prefix(length))
      #expect(reading.truncated == (length < 28 ? length : 0))
    }
  }

  @Test func errorsNameTheFileAndThePlace() throws {
    let file = TemporaryFile(
      btsnoop(
        1002, btsnoopRecord(hex("01030c00"), flags: 0), hex("ffffffff ffffffff"), btsnoopRecord([], flags: 0))
    )
    var reader = try CaptureReader(path: file.path)
    try expect(.record, of: &reader)
    let expected = CaptureError(.recordTooLarge(0xFFFF_FFFF), offset: 44, path: file.path)
    for _ in 0..<3 {
      do throws(CaptureError) {
        _ = try reader.advance()
        Issue.record("no error")
      } catch {
        #expect(error == expected)
      }
    }
    #expect("\(expected)".hasPrefix(file.path) && "\(expected)".contains("byte 44"))
  }

  /// Four gigabytes; a byte more than is read. Each with a record before it.
  @Test func rejectsOversizedRecordLengths() {
    let good = btsnoopRecord([1], flags: 0)
    func reason(_ record: [UInt8]) -> CaptureError.Reason? {
      let reading = Reading(btsnoop(1002, good, record))
      #expect(reading.records.count == 1 && reading.error?.offset == 41)
      return reading.error?.reason
    }
    #expect(
      reason(btsnoopRecord([], flags: 0, original: .max, included: .max)) == .recordTooLarge(0xFFFF_FFFF))
    #expect(
      reason(btsnoopRecord([UInt8](repeating: 0, count: 262_145), flags: 0)) == .recordTooLarge(262_145))
    for layout in PCAPTests.layouts {
      let start = layout.header(linkType: 187) + layout.record([1])
      let huge = Reading(start + layout.record([], original: .max, included: .max))
      #expect(huge.records.count == 1 && huge.error?.reason == .recordTooLarge(0xFFFF_FFFF))
    }
  }

  /// Some programs write too small an original length: the record is read, and the length is kept as it is.
  @Test func aRecordThatIsLongerThanItStatesIsRead() {
    let reading = Reading(
      btsnoop(1002, btsnoopRecord([1, 2, 3, 4], flags: 0, original: 3), btsnoopRecord([5], flags: 0)))
    #expect(reading.error == nil)
    #expect(reading.records.map(\.bytes) == [[1, 2, 3, 4], [5]])
    #expect(reading.records.map(\.info.originalLength) == [3, 1])
    for layout in PCAPTests.layouts {
      let longer = Reading(
        layout.header(linkType: 187) + layout.record([4, 2], original: 0) + layout.record([1]))
      #expect(longer.error == nil && longer.records.map(\.bytes) == [[4, 2], [1]])
    }
  }

  /// The counter of a file that was written in two runs begins again.
  @Test func lostPacketsAreCounted() {
    func record(_ drops: UInt32) -> [UInt8] {
      var record = btsnoopRecord([1], flags: 0)
      for index in 0..<4 { record[12 + index] = UInt8(truncatingIfNeeded: drops >> UInt32(24 - 8 * index)) }
      return record
    }
    let reading = Reading(btsnoop(1002, record(0), record(3), record(3), record(5), record(0), record(1)))
    #expect(reading.records.map(\.info.drops) == [0, 3, 0, 2, 0, 1])
  }

  @Test(arguments: [
    ("1f8b0800", CompressionFormat.gzip), ("28b52ffd", .zstd), ("fd377a585a00", .xz), ("425a6839", .bzip2),
    ("04224d18", .lz4), ("504b0304", .zip),
  ])
  func compressedFilesThatGrowAreRefused(_ digits: String, _ format: CompressionFormat) {
    let file = TemporaryFile(hex(digits) + [UInt8](repeating: 0, count: 40))
    #expect(throws: CaptureError(.compressed(format), path: file.path)) {
      _ = try CaptureReader(path: file.path, follow: true)
    }
  }

  /// The largest record there may be goes through the buffer at every place.
  @Test func recordsOfAllLengthsFitTheBuffer() {
    var random = SeededGenerator(seed: 3)
    let lengths = [262_144, 0, 1, 262_144, 262_144, 262_144, 262_144, 17] + (0..<100).map { $0 * 997 }
    let packets = lengths.map { random.bytes($0) }
    let records = packets.reduce(into: []) { $0 += btsnoopRecord($1, flags: 1) }
    let reading = Reading(btsnoop(1002) + records)
    #expect(reading.records.map(\.bytes) == packets)
    #expect(reading.error == nil)
  }
}
