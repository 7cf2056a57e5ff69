import HCI
import HaloBluetoothCore
import TestSupport
import Testing

/// Header and data of a packet with its H4 type byte.
private func read(_ packet: [UInt8]) throws(DecodeError) -> (ACLHeader, [UInt8]) {
  try packet.withReader { reader throws(DecodeError) in
    try reader.skip(1)
    let packet = try ACLPacket(reader.readRest())
    return (packet.header, Array(packet.data))
  }
}

@Suite struct ACLTests {
  @Test(arguments: aclVectors)
  func vectorsAreReadAndWritten(vector: ACLVector) throws {
    let (header, data) = try read(vector.packet)
    #expect(header == vector.header)
    var writer = ByteWriter()
    writer.write(HCIPacketType.acl.rawValue)
    header.write(into: &writer)
    writer.write(data)
    #expect(writer.bytes == vector.packet)
    checkDecoderIsTotal(vector.packet) { _ = try? read($0) }
  }

  @Test func encodesACLHeader() {
    var writer = ByteWriter()
    ACLHeader(handle: handle(0x0EFF), boundary: .continuing, broadcast: 2, dataLength: 0x1234)
      .write(into: &writer)
    #expect(writer.bytes == hex("ff9e 3412"))
  }

  @Test func lengthMustBeThatOfTheData() {
    #expect(throws: DecodeError(offset: 4, reason: .truncated(needed: 6, available: 1))) {
      try read(hex("02 4020 0600 01"))
    }
    #expect(throws: DecodeError(offset: 4, reason: .trailing(count: 1))) { try read(hex("02 4020 0000 01")) }
  }

  @Test func debugOutputIsRecognised() throws {
    #expect(try read(hex("02 dc2e 0200 aabb")).0.handle == .controllerDebug)
  }
}
