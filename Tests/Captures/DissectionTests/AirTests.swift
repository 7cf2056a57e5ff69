import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

@testable import HaloDissection

/// Packets of the air.
@Suite struct AirTests {
  /// A capture of the air that a test writes packet by packet.
  private final class Air {
    let dissector = Dissector()
    private var number = 0

    /// - Parameters:
    ///   - pdu: with its header; the CRC is computed
    ///   - crcInit: nil for a CRC of zeros
    func packet(
      _ pdu: String, address: UInt32 = AccessAddress.advertising.rawValue,
      crcInit: UInt32? = AirCRC.advertising,
      after time: Int64 = 50_000, _ change: (inout AirReception) -> Void = { _ in }
    ) -> DissectedPacket {
      bytes(Self.bytes(hex(pdu.dense), address, crcInit), after: time, change)
    }

    static func bytes(_ pdu: [UInt8], _ address: UInt32, _ crcInit: UInt32?) -> [UInt8] {
      var writer = ByteWriter()
      writer.write(address)
      writer.write(pdu)
      writer.writeUInt24(crcInit.map { AirCRC.value(of: pdu.span.bytes, initial: $0) } ?? 0)
      return writer.bytes
    }

    private var time: Int64 = 0

    func bytes(
      _ bytes: [UInt8], original: Int? = nil, after: Int64 = 50_000,
      _ change: (inout AirReception) -> Void = { _ in }
    ) -> DissectedPacket {
      var reception = AirReception(.linkLayer)
      change(&reception)
      number += 1
      time += after
      return dissector.dissect(
        bytes.span.bytes,
        CaptureRecordInfo(
          number: number, microseconds: time, content: .air(reception),
          originalLength: original ?? bytes.count))
    }
  }

  /// CONNECT_IND from 00:00:00:00:00:01 to 00:00:00:00:00:02, with the access address 0x50655BDA, CRCInit 0x563412.
  private static let request =
    "0522 010000000000 020000000000 da5b6550 123456 02 0300 1800 0000 4800 ffffffff1f a7"

  private func connected() -> Air {
    let air = Air()
    #expect(air.packet(Self.request).air?.crc == .right)
    return air
  }

  /// Computed bit by bit, as the specification draws the register (`air_frames.py`, which tshark agrees with).
  @Test(arguments: [(0x555555, 0x0FD2F5), (0xA1B2C3, 0xB545EA)] as [(UInt32, UInt32)])
  func crc(initial: UInt32, expected: UInt32) {
    let pdu = hex("4013b2a1332211c002010609095230325f42454546")
    #expect(AirCRC.value(of: pdu.span.bytes, initial: initial) == expected)
  }

  @Test func aConnectionIsFollowed() {
    let air = connected()
    func send(_ pdu: String, after time: Int64 = 50_000) -> DissectedPacket {
      air.packet(pdu, address: 0x5065_5BDA, crcInit: 0x563412, after: time)
    }
    let request = send("0207 0300 0400 0a0300")
    #expect(request.att?.opcode.rawValue == 0x0A && request.direction == .hostToController)
    #expect(request.air?.notes == [.beginsEvent, .derivedDirection] && request.air?.crc == .right)
    #expect(request.link?.text == "0x50655bda 00:00:00:00:00:01 00:00:00:00:00:02")
    // A response in two PDUs, the second of which is sent twice.
    #expect(send("0605 0300 0400 0b", after: 200).l2cap == nil)
    #expect(send("0100").air?.isEmpty == true)
    let response = send("0d02 4142", after: 200)
    #expect(response.att?.value.map { Array(response.source[$0]) } == [0x41, 0x42])
    #expect(response.l2cap?.fragments == 2 && response.direction == .controllerToHost)
    _ = send("0100")
    let again = send("0d02 4142", after: 200)
    #expect(again.air?.notes.contains(.retransmission) == true && again.l2cap == nil)
  }

  @Test func infersDirectionWithoutSnifferFlags() {
    let air = connected()
    func send(_ pdu: String, after time: Int64, channel: UInt8? = nil) -> CaptureDirection? {
      air.packet(pdu, address: 0x5065_5BDA, crcInit: 0x563412, after: time) { $0.channel = channel }.direction
    }
    #expect(send("0100", after: 30_000) == .hostToController)
    #expect(send("0500", after: 230) == .controllerToHost)
    #expect(send("0900", after: 230) == .hostToController)
    // The peripheral has not answered: the next event begins.
    #expect(send("0100", after: 30_000) == .hostToController)
    #expect(send("0100", after: 100, channel: 3) == .controllerToHost)
    #expect(send("0100", after: 100, channel: 9) == .hostToController)
    // What only one side sends counts.
    #expect(send("0309 0800000000000000 00", after: 100, channel: 9) == .hostToController)
    #expect(send("0309 0e00000000000000 00", after: 30_000, channel: 10) == .controllerToHost)
  }

  @Test func emptyPDUAfterMissingOneIsNotARetransmission() {
    let air = connected()
    func send(_ pdu: String, _ role: AirReception.Role) -> Bool? {
      air.packet(pdu, address: 0x5065_5BDA, crcInit: 0x563412) { $0.role = role }.air?.notes.contains(
        .retransmission)
    }
    // SN 1; acknowledged; the central has acknowledged one with SN 0 that is missing.
    #expect(send("0900", .fromPeripheral) == false)
    #expect(send("0100", .fromCentral) == false)
    #expect(send("0d00", .fromCentral) == false)
    #expect(send("0900", .fromPeripheral) == false)
    #expect(send("0900", .fromPeripheral) == true)
  }

  @Test func ignoresPDUsWithWrongCRC() {
    let air = connected()
    let wrong = air.packet("0207 0300 0400 0a0300", address: 0x5065_5BDA, crcInit: 0x111111)
    #expect(wrong.air?.crc == .wrong && wrong.att == nil && wrong.summary.contains("wrong CRC"))
    #expect(wrong.link?.peer != nil)
    // The sniffer's word counts: it has received what it has decrypted.
    let right = air.packet("0207 0300 0400 0a0300", address: 0x5065_5BDA, crcInit: nil) {
      $0.flags = [.crcChecked, .crcValid]
    }
    #expect(right.air?.crc == .right && right.att != nil && right.air?.notes.contains(.otherCRC) == true)
    let other = air.packet("0207 0300 0400 0a0300", address: 0x5065_5BDA, crcInit: 0x563412) {
      $0.flags = .crcChecked
    }
    #expect(other.air?.crc == .wrong)
  }

  /// A program has decrypted the file, with the MIC or without: the CRC is that of the encrypted PDU.
  @Test(arguments: [false, true]) func aDecryptedCopyIsRead(keepsMIC: Bool) {
    let air = connected()
    func send(_ pdu: String, _ role: AirReception.Role, crcInit: UInt32 = 0x111111) -> DissectedPacket {
      air.packet(pdu, address: 0x5065_5BDA, crcInit: crcInit) { $0.role = role }
    }
    _ = send("0317 03 0000000000000000 0000 0000000000000000 00000000", .fromCentral, crcInit: 0x563412)
    _ = send("070d 04 0000000000000000 00000000", .fromPeripheral, crcInit: 0x563412)
    _ = send("0701 05", .fromPeripheral, crcInit: 0x563412)
    let (mic, count) = keepsMIC ? ("01020304", "0b") : ("", "07")
    let request = send("02\(count) 0300 0400 0a0300 \(mic)", .fromCentral)
    #expect(request.att?.opcode.rawValue == 0x0A && request.air?.notes.contains(.decrypted) == true)
    #expect(request.air?.crc == .unknown && request.air?.micLength == (keepsMIC ? 4 : 0))
    // It is encrypted, or was received wrongly: neither is believed to be plaintext.
    #expect(
      send("0609 a0a1a2a3a4a5a6a7a8", .fromPeripheral, crcInit: 0x563412).air?.notes.contains(.encrypted)
        == true)
    #expect(send("0e09 a0a1a2a3a4a5a6a7a9", .fromPeripheral).air?.crc == .wrong)
  }

  /// No random PDU of 20,000 looks like plaintext; so it is with encrypted ones.
  @Test func ciphertextIsNotRead() {
    var generator = SeededGenerator(seed: 19)
    let air = connected()
    _ = air.packet("070d 04 0000000000000000 00000000", address: 0x5065_5BDA, crcInit: 0x563412)
    _ = air.packet("0701 05", address: 0x5065_5BDA, crcInit: 0x563412)
    var read = 0
    for number in 0..<20_000 {
      // An LL Control PDU has one of these, with its MIC.
      let lengths = LLControlOpcode.lengths.map { $0 + 4 }.sorted()
      let length =
        number % 4 == 0
        ? lengths[Int(generator.next() % UInt64(lengths.count))] : Int.random(in: 5...31, using: &generator)
      let header = (number % 4 == 0 ? 3 : number % 4 == 1 ? 1 : 2) | (number / 4 % 2) << 3
      let pdu = [UInt8(header), UInt8(length)] + generator.bytes(length)
      let packet = air.bytes(Air.bytes(pdu, 0x5065_5BDA, 0x563412)) {
        $0.role = number % 2 == 0 ? .fromCentral : .fromPeripheral
      }
      if packet.air?.notes.contains(.encrypted) != true { read += 1 }
    }
    #expect(read == 0)
  }

  @Test func everyLengthOfEveryPDU() {
    var generator = SeededGenerator(seed: 11)
    for type in UInt8(0)...15 {
      for length in 0...60 {
        let pdu = [type, UInt8(length)] + generator.bytes(length)
        for address in [AccessAddress.advertising.rawValue, 0x5065_5BDA] {
          let whole = Air.bytes(
            pdu, address, address == AccessAddress.advertising.rawValue ? 0x555555 : 0x563412)
          let air = connected()
          let packet = air.bytes(whole)
          #expect(packet.air?.crc == .right)
          checkFields(packet)
          let end = Int.random(in: 0...whole.count, using: &generator)
          let cut = air.bytes(Array(whole.prefix(end)), original: whole.count)
          #expect(cut.air?.problem?.isOfLength != true || !cut.isCut, "\(cut)")
          checkFields(cut)
          checkFields(air.bytes(Array(whole.prefix(end))))
        }
      }
    }
  }

  /// The fields cover all bytes, once and in order.
  private func checkFields(_ packet: DissectedPacket) {
    _ = packet.summary
    for layer in packet.layers { _ = packet.summary(of: layer) }
    guard packet.reassembled == nil else { return }
    var isCovered = [Bool](repeating: false, count: packet.bytes.count)
    for layer in packet.layers {
      let fields = packet.fields(of: layer)
      let outside = fields.outside(packet.bytes.count)
      #expect(outside.isEmpty, "\(packet)")
      for field in fields where outside.isEmpty {
        for place in field.range { isCovered[place] = true }
      }
    }
    #expect(!isCovered.contains(false), "\(packet)")
  }

  @Test func everyControlPDU() {
    for opcode in UInt8.min...UInt8.max {
      let code = LLControlOpcode(rawValue: opcode)
      #expect((code.name == nil) == (opcode > 0x3C))
      guard let length = code.length else { continue }
      let air = connected()
      let pdu = [3, UInt8(length), opcode] + [UInt8](repeating: 0x21, count: length - 1)
      let packet = air.bytes(Air.bytes(pdu, 0x5065_5BDA, 0x563412))
      #expect(packet.air?.opcode == code && packet.summary.hasPrefix(code.name ?? ""))
      let names = packet.fields(of: .ll).map(\.name)
      #expect(!names.contains("damaged") && !names.contains("parameters"), "\(names)")
    }
    // The lengths of the specification.
    let lengths: [UInt8: Int] = [0x00: 12, 0x0F: 24, 0x1C: 35, 0x1F: 36, 0x21: 16, 0x2A: 43]
    for (opcode, length) in lengths { #expect(LLControlOpcode(rawValue: opcode).length == length) }
  }

  @Test func tablesAreBounded() {
    let state = AirState([], SecurityKnowledge(DissectionSecrets()))
    var generator = SeededGenerator(seed: 12)
    for number in 1...2000 {
      let bytes = Air.bytes(
        [2, 7, 3, 0, 4, 0, 0x0A, 3, 0], UInt32(truncatingIfNeeded: generator.next()) | 1, 0)
      var packet = DissectedPacket()
      let reception = AirReception(.linkLayer)
      packet.begin(
        bytes.span.bytes,
        CaptureRecordInfo(
          number: number, microseconds: nil, content: .air(reception), originalLength: bytes.count))
      state.dissect(&packet, bytes.span.bytes, reception)
    }
    #expect(state.connectionCount == AirState.connectionCapacity)
  }

  @Test func randomPacketsAreRead() {
    var generator = SeededGenerator(seed: 13)
    let air = connected()
    for _ in 0..<5_000 {
      var bytes = generator.bytes(Int(generator.next() % 80))
      if bytes.count > 6, generator.next() % 2 == 0 {
        bytes.replaceSubrange(0..<4, with: generator.next() % 2 == 0 ? hex("d6be898e") : hex("da5b6550"))
        bytes[5] = UInt8(truncatingIfNeeded: max(0, bytes.count - 9))
      }
      let seed = generator.next()
      let packet = air.bytes(bytes, original: bytes.count + Int(seed % 3)) {
        $0.flags = AirReception.Flags(rawValue: UInt16(truncatingIfNeeded: seed >> 8))
        $0.role = AirReception.Role(rawValue: UInt8(seed >> 24 & 7)) ?? .unspecified
        $0.phy = AirReception.PHY(rawValue: UInt8(seed >> 27 & 3))
        $0.channel = UInt8(seed >> 30 & 63)
      }
      checkFields(packet)
    }
  }
}
