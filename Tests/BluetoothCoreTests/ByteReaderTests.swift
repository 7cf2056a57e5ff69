import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct ByteReaderTests {
  @Test func integersAreLittleEndian() throws {
    // `#expect` cannot hold a reader, so the values are taken first.
    let read = try hex("01 0302 06050403 aabbcc fffe 0102").withReader { reader throws(DecodeError) in
      var values = [Int(try reader.readUInt8()), Int(try reader.readUInt16()), Int(try reader.readUInt32())]
      values += [Int(try reader.readUInt24()), Int(try reader.readInt8()), Int(try reader.readInt8())]
      values += [Int(try reader.readUInt16BigEndian()), reader.remaining]
      return values
    }
    #expect(read == [1, 0x0203, 0x0304_0506, 0xCCBBAA, -1, -2, 0x0102, 0])
  }

  @Test func shortReadsThrowWithTheirPlace() {
    #expect(throws: DecodeError(offset: 1, reason: .truncated(needed: 2, available: 1))) {
      try hex("0102").withReader { reader in
        _ = try reader.readUInt8()
        _ = try reader.readUInt16()
      }
    }
    #expect(throws: DecodeError.self) { try hex("01").withReader { try $0.skip(-1) } }
  }

  @Test func spansAreViewsOfTheRest() throws {
    let read = try hex("01020304").withReader { reader throws(DecodeError) in
      let first = try reader.readBytes(2)
      return (first, reader.peek(), reader.readRemainingBytes(), reader.peek(), reader.readRemainingBytes())
    }
    #expect(read.0 == [1, 2])
    #expect(read.1 == 3)
    #expect(read.2 == [3, 4])
    #expect(read.3 == nil)
    #expect(read.4 == [])
  }

  @Test func leftOverBytesAreNamed() {
    #expect(throws: DecodeError(offset: 0, reason: .trailing(count: 2))) {
      try hex("0102").withReader { try $0.expectEnd() }
    }
  }

  @Test func writerMirrorsReader() throws {
    var writer = ByteWriter()
    writer.write(UInt8(1))
    writer.write(UInt16(0x0203))
    writer.write(UInt32(0x0405_0607))
    writer.write(UInt64(0x0809_0A0B_0C0D_0E0F))
    writer.writeUInt24(0x112233)
    writer.writeBigEndian(UInt16(0x4455))
    writer.overwrite(at: 1, with: UInt16(0xAABB))
    writer.overwrite(at: 100, with: UInt16(0))
    writer.pad(to: 21)
    #expect(writer.bytes == hex("01 bbaa 07060504 0f0e0d0c0b0a0908 332211 4455 00"))
  }
}
