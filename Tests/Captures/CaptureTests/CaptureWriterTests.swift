import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

private let header = "6274736e6f6f7000 00000001 000003ea"
/// A Reset at 2024-01-01 00:00:00 UTC, as `btmon -w` writes it.
private let record = "00000004 00000004 00000002 00000000 00e2eb8a1f50a000 01030c00"

@Suite struct CaptureWriterTests {
  @Test func theBytesAreExact() throws {
    let file = TemporaryFile()
    let writer = try CaptureWriter(path: file.path)
    #expect(file.bytes == hex(header))
    writer.write(hex("01030c00").span.bytes, direction: .hostToController, microseconds: newYear)
    writer.waitUntilWritten()
    #expect(file.bytes == hex(header + record))
    #expect(writer.failure == nil)
  }

  @Test func flagsEncodeDirectionAndPacketType() throws {
    let file = TemporaryFile()
    let writer = try CaptureWriter(path: file.path)
    let packets: [(String, CaptureDirection, UInt8)] = [
      ("01030c00", .hostToController, 2), ("040e0401030c00", .controllerToHost, 3),
      ("0240000000", .hostToController, 0), ("0240200000", .controllerToHost, 1),
      ("0300000000", .controllerToHost, 1), ("05000000", .hostToController, 0),
    ]
    for (packet, direction, _) in packets {
      writer.write(hex(packet).span.bytes, direction: direction, microseconds: 0)
    }
    writer.waitUntilWritten()
    var rest = file.bytes.dropFirst(16)
    for (packet, _, flags) in packets {
      #expect(rest.dropFirst(11).first == flags)
      rest = rest.dropFirst(24 + hex(packet).count)
    }
    #expect(rest.isEmpty)
  }

  @Test func writtenRecordsRoundTrip() throws {
    var random = SeededGenerator(seed: 7)
    var offset = 16
    let written = (0..<300).map { index in
      let bytes = random.bytes(index == 17 ? 262_144 : Int.random(in: 0..<3000, using: &random))
      defer { offset += 24 + bytes.count }
      return CaptureRecord(
        info: CaptureRecordInfo(
          number: index + 1, fileOffset: offset, microseconds: Int64(index) * 1_000_003 - 5,
          content: .hci(index % 3 == 0 ? .hostToController : .controllerToHost), originalLength: bytes.count),
        bytes: bytes)
    }
    let file = TemporaryFile()
    let writer = try CaptureWriter(path: file.path)
    for record in written {
      writer.write(
        record.bytes.span.bytes, direction: try #require(record.info.direction),
        microseconds: try #require(record.info.microseconds))
    }
    writer.waitUntilWritten()
    let reading = Reading(path: file)
    #expect(reading.records == written)
    #expect(reading.truncated == 0)
  }

  /// With what the sniffer says of them, as in the file that they are from.
  @Test(
    arguments: [
      (251, ""), (256, "0cc4a00378563412b34d"), (272, "002700033412020a01252e000044332211"),
      (192, "00001800fb00000036750c000084090044332211f0e8ec05"),
    ] as [(UInt32, String)])
  func packetsOfTheAirAreWrittenAsTheyWere(linkType: UInt32, header: String) throws {
    let pcap = PCAPBytes()
    let record = hex(header) + hex("d6be898e0006010203040506aabbcc")
    let records =
      pcap.record(record, fraction: 17)
      + pcap.record(Array(record.dropLast(4)), original: UInt32(record.count))
    let original = TemporaryFile(pcap.header(linkType: linkType) + records)
    var reader = try CaptureReader(path: original.path)
    let file = TemporaryFile()
    let writer = try CaptureWriter(
      path: file.path, format: .pcap(CaptureLinkType(rawValue: UInt16(linkType))))
    while let found = try reader.next() {
      let header = Array(reader.linkHeader)
      let isWritten = writer.collect(found.bytes.span.bytes, found.info, linkHeader: header)
      #expect(isWritten)
    }
    // What a sniffer of another kind has received has another header.
    let other = CaptureRecordInfo(
      microseconds: 0, content: .air(AirReception(linkType == 251 ? .nordic : .linkLayer)), originalLength: 2)
    let foreign: [UInt8] = [1, 2]
    let isWritten = writer.collect(foreign.span.bytes, other)
    #expect(!isWritten)
    writer.waitUntilWritten()
    #expect(
      Array(file.bytes.dropFirst(24)) == records
        && Reading(path: file).records == Reading(path: original).records)
  }

  /// In a file of the Linux monitor: packets of adapters, and what is no packet.
  @Test func theMonitorsRecordsAreReadAsWritten() throws {
    let file = TemporaryFile()
    let writer = try CaptureWriter(path: file.path, format: .btsnoop(.linuxMonitor))
    let records: [(String, CaptureContent, UInt16?)] = [
      ("4c696e757800", .monitor(.systemNote), nil),
      ("0001b2a1332211c06863693000000000", .monitor(.newIndex), 0),
      ("01030c00", .hci(.hostToController), 0), ("040e0401030c00", .hci(.controllerToHost), 7),
      ("0240000000", .hci(.hostToController), 0), ("0240200000", .hci(.controllerToHost), 65_534),
      ("0340000000", .hci(.hostToController), 0), ("0340000000", .hci(.controllerToHost), 0),
      ("0540000000", .hci(.hostToController), 0), ("0540000000", .hci(.controllerToHost), 0),
    ]
    for (index, (bytes, content, adapter)) in records.enumerated() {
      let bytes = hex(bytes)
      writer.write(
        bytes.span.bytes,
        CaptureRecordInfo(
          microseconds: newYear + Int64(index), adapter: adapter, content: content,
          originalLength: bytes.count))
    }
    writer.waitUntilWritten()
    let reading = Reading(path: file)
    #expect(reading.records.map(\.bytes) == records.map { hex($0.0) })
    #expect(reading.records.map(\.info.content) == records.map(\.1))
    #expect(reading.records.map(\.info.adapter) == records.map(\.2))
    #expect(reading.records.map(\.info.microseconds) == records.indices.map { newYear + Int64($0) })
  }

  /// What a file can't hold is left out: the file stays whole.
  @Test func omitsRecordsTheFormatCannotStore() throws {
    let file = TemporaryFile()
    let writer = try CaptureWriter(path: file.path)
    let note = CaptureRecordInfo(microseconds: 0, content: .monitor(.systemNote), originalLength: 1)
    writer.write(hex("00").span.bytes, note)
    writer.waitUntilWritten()
    #expect(file.bytes == hex(header) && writer.failure == nil)
    let monitorFile = TemporaryFile()
    let monitor = try CaptureWriter(path: monitorFile.path, format: .btsnoop(.linuxMonitor))
    monitor.write(hex("77").span.bytes, direction: .hostToController, microseconds: 0)
    monitor.write([UInt8]().span.bytes, direction: .hostToController, microseconds: 0)
    monitor.waitUntilWritten()
    #expect(monitorFile.bytes.count == 16 && monitor.failure == nil)
  }

  @Test func anOldFileIsReplaced() throws {
    let old = Array(repeating: UInt8(0xFF), count: 1000)
    let file = TemporaryFile(old)
    #expect(throws: CaptureError(.hasData, path: file.path)) {
      _ = try CaptureWriter(path: file.path, replaces: false)
    }
    #expect(file.bytes == old)
    _ = try CaptureWriter(path: file.path)
    #expect(file.bytes == hex(header))
  }

  @Test func aFileHasOneWriter() throws {
    let file = TemporaryFile()
    let writer = try CaptureWriter(path: file.path)
    #expect(throws: CaptureError(.cannotCreate("another program is writing it"), path: file.path)) {
      _ = try CaptureWriter(path: file.path)
    }
    withExtendedLifetime(writer) {}
  }

  @Test func reportsFullDisk() {
    do {
      _ = try CaptureWriter(path: "/dev/full")
      Issue.record("no error")
    } catch {
      guard case .cannotWrite = error.reason else {
        Issue.record("\(error)")
        return
      }
      #expect(error.path == "/dev/full")
    }
    #expect(throws: CaptureError.self) { try CaptureWriter(path: "/nonexistent/file") }
  }
}
