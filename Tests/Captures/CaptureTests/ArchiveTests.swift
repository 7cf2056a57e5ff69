import HaloSystem
import TestSupport
import Testing

@testable import HaloCapture

/// Captures that are compressed, or in the archives of phones: Android's bug reports are zip files, iPhones' sysdiagnoses tar
/// files. What Tests/Interop does with real compression and with archives that attack is not repeated here.
@Suite(.enabled(if: (try? LoadedLibrary("libarchive.so.13")) != nil, "libarchive13 is not installed"))
struct ArchiveTests {
  /// A log with `count` records of 100 bytes each, a microsecond apart.
  private func log(_ count: Int = 3, from time: Int64 = newYear) -> [UInt8] {
    (0..<count).reduce(into: btsnoop(1002)) { log, number in
      let packet = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 100)
      log += btsnoopRecord(packet, flags: 1, time: time + Int64(number))
    }
  }

  @Test(arguments: [0, 3, 1000]) func aCompressedLogIsRead(count: Int) {
    let reading = Reading(ArchiveBytes.gzip(log(count)))
    #expect(reading.records == Reading(log(count)).records && reading.error == nil)
    #expect(reading.records.count == count)
  }

  /// A zip file, or a compressed tar file.
  private func archive(_ format: CompressionFormat, _ entries: [(name: String, bytes: [UInt8])])
    -> TemporaryFile
  {
    TemporaryFile(format == .zip ? ArchiveBytes.zip(entries) : ArchiveBytes.gzip(ArchiveBytes.tar(entries)))
  }

  /// A summary of recent packets is a part of the logs, and is read only without them.
  @Test(arguments: [CompressionFormat.zip, .gzip])
  func theLogsOfAnArchiveAreReadInTheirOrder(format: CompressionFormat) throws {
    let summary = btsnoozSummary("0400 0400 00000000 20 030c00")
    let others: [(name: String, bytes: [UInt8])] = [
      ("FS/", []), ("FS/notes.txt", Array("nothing of Bluetooth".utf8)),
      ("FS/large.bin", [UInt8](repeating: 0xA5, count: 300_000)), ("FS/btsnooz_hci.log", summary),
    ]
    let logs = [("FS/btsnoop_hci.log", log(2, from: newYear + 10)), ("FS/btsnoop_hci.log.last", log(2))]
    let file = archive(format, others + logs)
    let source = try CaptureSource([file.path])
    #expect(source.isExtracted && source.damage == nil && source.summaries == [])
    #expect(source.names == ["btsnoop_hci.log.last", "btsnoop_hci.log"].map { "\(file.path) (FS/\($0))" })
    #expect(Reading(path: file).records.map(\.info.microseconds) == [0, 1, 10, 11].map { newYear + $0 })

    let summaries = archive(format, others)
    #expect(try CaptureSource([summaries.path]).summaries == ["\(summaries.path) (FS/btsnooz_hci.log)"])
    #expect(Reading(path: summaries).records.map(\.bytes) == [hex("01030c00")])
  }

  @Test(arguments: [CompressionFormat.zip, .gzip])
  func anArchiveWithoutACaptureIsAnError(format: CompressionFormat) {
    let file = archive(format, [("a.txt", Array("text".utf8)), ("b", [])])
    #expect(throws: CaptureError(.holdsNoCapture(format), path: file.path)) {
      _ = try CaptureSource([file.path])
    }
  }

  /// What precedes the damage is read to the last byte, and then the damage is said: libarchive has 64 KiB when it finds that.
  @Test(arguments: [40, 1500]) func aTransferThatWasCutIsReadToItsEnd(count: Int) {
    let whole = ArchiveBytes.gzip(log(count))
    let reading = Reading(Array(whole.prefix(whole.count - 130)))
    // The checksum and the length have eight bytes.
    #expect(reading.records == Array(Reading(log(count)).records.prefix(count - 1)))
    #expect(reading.error?.reason == .decompressedInPart("truncated gzip input"))
    let archive = ArchiveBytes.gzip(
      ArchiveBytes.tar([("first.log", log()), ("second.log", log(count, from: newYear + 10))]))
    let cut = Reading(Array(archive.prefix(archive.count - 2000)))
    #expect((count / 2..<count + 3).contains(cut.records.count) && cut.error != nil)
    #expect(Array(cut.records.prefix(3)) == Reading(log()).records)
  }

  /// Several files in one, as `cat a.gz b.gz` makes them; the second is cut.
  @Test func bothPartsOfAFileAreRead() {
    let other = ArchiveBytes.gzip((0..<10).flatMap { _ in btsnoopRecord([1, 3, 12, 0], flags: 2) })
    let reading = Reading(ArchiveBytes.gzip(log(4)) + other.prefix(other.count - 20))
    #expect(reading.records.count == 13 && reading.error != nil)
  }

  /// A beginning alone, at every length, is an error or a capture without an end.
  @Test func reportsTruncatedGzipAtEveryLength() {
    let whole = ArchiveBytes.gzip(log(2))
    for length in 10..<whole.count {
      let reading = Reading(Array(whole.prefix(length)))
      #expect(reading.error != nil && reading.records.count <= 2, "\(length) bytes")
    }
  }

  @Test func readingIsCancelled() {
    let file = TemporaryFile(ArchiveBytes.gzip(log()))
    #expect(throws: CaptureError(.cancelled, path: file.path)) {
      _ = try CaptureSource([file.path], isCancelled: { true })
    }
  }
}
