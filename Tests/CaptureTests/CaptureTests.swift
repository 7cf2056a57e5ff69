import BluetoothCore
import Capture
import TestSupport
import Testing

private let header = "6274736e6f6f7000 00000001 000003ea"
/// A Reset at 2024-01-01 00:00:00 UTC, as `btmon -w` writes it.
private let record = "00000004 00000004 00000002 00000000 00e2eb8a1f50a000 01030c00"
private let recordTime: Int64 = 1_704_067_200_000_000

private func records(_ bytes: [UInt8]) throws -> (records: [CaptureRecord], truncated: Int) {
  let file = TemporaryFile(bytes)
  let reader = try CaptureReader(path: file.path)
  var records: [CaptureRecord] = []
  while let record = try reader.next() { records.append(record) }
  #expect(reader.recordCount == records.count)
  return (records, reader.truncatedBytes)
}

private func reason(_ bytes: [UInt8]) -> CaptureError.Reason? {
  do {
    _ = try records(bytes)
    return nil
  } catch {
    return (error as? CaptureError)?.reason
  }
}

@Suite struct CaptureReaderTests {
  @Test func aRecordHasItsValues() throws {
    let read = try records(hex(header + record))
    #expect(
      read.records == [
        CaptureRecord(direction: .hostToController, microseconds: recordTime, packet: hex("01030c00"))
      ])
    #expect(read.truncated == 0)
  }

  @Test func aHeaderAloneIsAnEmptyCapture() throws {
    #expect(try records(hex(header)).records == [])
  }

  /// A recording that was cut off: all that is whole is there, at every length of the rest.
  @Test func aTruncatedTailIsToleratedAtEveryLength() throws {
    let whole = hex(record)
    for length in 0..<whole.count {
      let read = try records(hex(header + record) + whole[..<length])
      #expect(read.records.count == 1)
      #expect(read.truncated == length)
    }
  }

  @Test func filesThatAreNoCapturesSayWhy() {
    #expect(reason([]) == .empty)
    let whole = hex(header)
    for length in 1..<8 { #expect(reason(Array(whole[..<length])) == .notBTSnoop) }
    for length in 8..<16 { #expect(reason(Array(whole[..<length])) == .truncatedHeader) }
    #expect(reason(hex("0a0d0d0a" + header)) == .notBTSnoop)
    #expect(reason(Array("#!/bin/sh\necho this is not a capture\n".utf8)) == .notBTSnoop)
    #expect(reason(hex("6274736e6f6f7000 00000002 000003ea")) == .unsupportedVersion(2))
    #expect(throws: CaptureError.self) { try CaptureReader(path: "/nonexistent/file") }
    #expect(throws: CaptureError.self) { try CaptureReader(path: "/tmp") }
  }

  @Test func errorsNameTheFileAndThePlace() {
    let file = TemporaryFile(hex(header + record + "ffffffff ffffffff"))
    do {
      let reader = try CaptureReader(path: file.path)
      _ = try reader.next()
      _ = try reader.next()
      Issue.record("no error")
    } catch {
      #expect(error == CaptureError(.recordTooLarge(0xFFFF_FFFF), offset: 44, path: file.path))
      #expect("\(error)".hasPrefix(file.path))
      #expect("\(error)".contains("byte 44"))
    }
  }

  @Test func anotherDatalinkIsTold() throws {
    let file = TemporaryFile(hex("6274736e6f6f7000 00000001 000007d1"))
    #expect(try CaptureReader(path: file.path).datalink == BTSnoop.Datalink(rawValue: 2001))
  }

  @Test func lengthsThatCannotBeAreRefused() {
    // Four gigabytes; a byte more than a packet may have; more included than there was.
    #expect(reason(hex(header + "ffffffff ffffffff 00000000")) == .recordTooLarge(0xFFFF_FFFF))
    #expect(
      reason(hex(header + "00010011 00010011 00000000")) == .recordTooLarge(BTSnoop.maximumPacketLength + 1))
    #expect(reason(hex(header + "00000003 00000004" + record.dropFirst(18))) == .recordLongerThanPacket)
  }

  @Test func aPacketThatWasCutByTheSnapLengthTells() throws {
    let read = try records(hex(header + "00000064 00000004" + record.dropFirst(18)))
    #expect(read.records.first?.originalLength == 100)
    #expect(read.records.first?.packet == hex("01030c00"))
  }

  @Test func recordsOfNoBytesAndTimesBeforeAllTimesAreRead() throws {
    let empty = "00000000 00000000 00000001 00000000 "
    let read = try records(
      hex(header + empty + "0000000000000000" + empty + "ffffffffffffffff" + empty + "7fffffffffffffff"))
    #expect(read.records.count == 3)
    #expect(read.records.allSatisfy { $0.packet == [] && $0.direction == .controllerToHost })
    #expect(read.records[0].microseconds < 0)
  }

  @Test func damageDoesNotTrap() {
    checkDecoderIsTotal(hex(header + record)) { bytes in
      _ = try? BTSnoop.readHeader(bytes.span.bytes)
      _ = try? BTSnoop.readRecord(Array(bytes.dropFirst(16)).span.bytes, offset: 16)
    }
  }
}

@Suite struct CaptureWriterTests {
  @Test func theBytesAreExact() throws {
    let file = TemporaryFile()
    let writer = try CaptureWriter(path: file.path)
    #expect(file.bytes == hex(header))
    writer.write(hex("01030c00").span.bytes, direction: .hostToController, microseconds: recordTime)
    // Each record is whole on disk as soon as it is written.
    #expect(file.bytes == hex(header + record))
    #expect(writer.failure == nil)
  }

  @Test func flagsTellDirectionAndKind() throws {
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
    var rest = file.bytes.dropFirst(16)
    for (packet, _, flags) in packets {
      #expect(rest.dropFirst(11).first == flags)
      rest = rest.dropFirst(24 + hex(packet).count)
    }
    #expect(rest.isEmpty)
  }

  @Test func whatWasWrittenIsRead() throws {
    var random = SeededGenerator(seed: 7)
    let written = (0..<300).map { index in
      CaptureRecord(
        direction: index % 3 == 0 ? .hostToController : .controllerToHost,
        microseconds: Int64(index) * 1_000_003 - 5,
        packet: random.bytes(
          index == 17 ? BTSnoop.maximumPacketLength : Int.random(in: 0..<3000, using: &random)))
    }
    let file = TemporaryFile()
    let writer = try CaptureWriter(path: file.path)
    for record in written {
      writer.write(record.packet.span.bytes, direction: record.direction, microseconds: record.microseconds)
    }
    let read = try records(file.bytes)
    #expect(read.records == written)
    #expect(read.truncated == 0)
  }

  @Test func anOldFileIsReplaced() throws {
    let file = TemporaryFile(Array(repeating: 0xFF, count: 1000))
    _ = try CaptureWriter(path: file.path)
    #expect(file.bytes == hex(header))
  }

  @Test func aFullDiskIsTold() {
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
