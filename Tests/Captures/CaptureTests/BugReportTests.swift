import Glibc
import HaloBluetoothCore
import HaloSystem
import TestSupport
import Testing

@testable import HaloCapture

/// The btsnooz summary of Android, and what is around it in a bug report.
@Suite struct BugReportTests {
  /// RFC 4648, 10.
  @Test(arguments: [
    ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmE=", "fooba"),
    ("Zm9vYmFy", "foobar"),
  ])
  func base64(_ digits: String, _ text: String) {
    #expect(Base64.bytes(Array(digits.utf8)) == Array(text.utf8))
  }

  @Test(arguments: ["", "Zg", "Zg=", "Zm9\u{1}", "Z===", "====", "Zm9v!A=="])
  func rejectsInvalidBase64(_ digits: String) {
    #expect(Base64.bytes(Array(digits.utf8)) == nil)
  }

  private func found(_ text: String, pieces size: Int) -> [UInt8]? {
    var finder = BTSnoozText()
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { finder.read($0) }
    }
    return finder.bytes
  }

  /// Wherever the pieces end, and whatever precedes the line.
  @Test(arguments: [
    "", "-", "--", "---", "----- ", "--- BEGIN", "--- BEGIN:BTSNOOP_LOG_SUMMAR\n", "--- BEG--",
  ])
  func theSummaryIsFound(_ before: String) {
    let text =
      before
      + "--- BEGIN:BTSNOOP_LOG_SUMMARY (6 bytes in) ---\r\nZm9v\r\nYmFy\r\n--- END:BTSNOOP_LOG_SUMMARY ---\n"
    for size in 1...40 { #expect(found(text, pieces: size) == Array("foobar".utf8)) }
    #expect(found(String(text.dropLast(40)), pieces: 7) == nil)
  }

  /// A report has the summary of one service twice.
  @Test func theLastSummaryCounts() {
    func summary(_ digits: String) -> String {
      "--- BEGIN:BTSNOOP_LOG_SUMMARY (3 bytes in) ---\n\(digits)\n--- END:BTSNOOP_LOG_SUMMARY ---\n"
    }
    #expect(found(summary("Zm9v") + summary("YmFy"), pieces: 9) == Array("bar".utf8))
    #expect(found(summary("Zm9v") + summary("no compression"), pieces: 9) == Array("foo".utf8))
  }

  @Test func timesCountBackFromTheLast() throws {
    let records = "0400 0400 00000000 20 030c00  0300 0700 e8030000 10 0e04  0200 0200 01000000 10 ff"
    let file = TemporaryFile(try #require(try BTSnooz.btsnoop(from: btsnoozSummary(records))))
    let reading = Reading(path: file)
    #expect(reading.records.map(\.info.microseconds) == [newYear - 1001, newYear - 1, newYear])
    #expect(reading.records.map(\.bytes) == [hex("01030c00"), hex("040e04"), hex("04ff")])
    #expect(reading.records.map(\.info.originalLength) == [4, 7, 2])
  }

  /// Version 1 does not say how long the packets were; their headers do.
  @Test func takesOriginalLengthFromPacketHeader() throws {
    let file = TemporaryFile(
      try #require(
        try BTSnooz.btsnoop(
          from: btsnoozSummary("0500 00000000 11 40201b00 0400 00000000 10 0e0401", version: 1))
      ))
    #expect(Reading(path: file).records.map(\.info.originalLength) == [32, 7])
  }

  @Test(arguments: [
    "00000000 00000000 20", "0400 0400 00000000 99 030c00", "ffff 0400 00000000 20 030c00", "04",
  ])
  func rejectsDamagedBTSnoozLog(_ records: String) throws {
    #expect(try BTSnooz.btsnoop(from: btsnoozSummary(records)) == nil)
    let whole = btsnoozSummary("0400 0400 00000000 20 030c00")
    for length in 0..<whole.count { #expect(try BTSnooz.btsnoop(from: Array(whole[..<length])) == nil) }
  }

  @Test(arguments: [ENOSPC, EIO]) func aFullDiskIsReported(_ code: Int32) throws {
    let file = TemporaryFile(btsnoozSummary("0400 0400 00000000 20 030c00"))
    let script = FaultScript([.write], fails: code)
    #expect(throws: CaptureError(.cannotCopy(code))) {
      try FaultPlan.during(script) { _ = try CaptureReader(path: file.path) }
    }
    #expect(script.isUsedUp)
  }

  /// Every prefix of a file, and every bit of it changed.
  @Test func damagedFilesOfHcidumpAreRead() {
    let bytes = hex("0400 00 00 80ff9165 40420f00 01030c00  0700 01 00 80ff9165 3f420f00 040e0401030c00")
    var good = bytes
    good[8] = 0
    #expect(Reading(good).format == .hcidump)
    #expect(Reading(good).records.map(\.bytes) == [hex("01030c00"), hex("040e0401030c00")])
    #expect(Reading(good).records.map(\.info.direction) == [.hostToController, .controllerToHost])
    // A million microseconds are no time.
    #expect(Reading(bytes).error?.reason == .unknownFormat)
    for length in 0..<good.count { _ = Reading(Array(good[..<length])) }
    for bit in 0..<good.count * 8 {
      var damaged = good
      damaged[bit / 8] ^= 1 << (bit % 8)
      #expect(Reading(damaged).records.count <= 2)
    }
  }
}
