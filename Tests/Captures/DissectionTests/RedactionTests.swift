import HCI
import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

@testable import HaloDissection

/// Copies of captures: in order, whole, and without what a redacted one must not have.
@Suite struct RedactionTests {
  private let band: UInt64 = 0x4AC1_2233_A1B2

  private func bytes(_ address: UInt64) -> [UInt8] {
    (0..<6).map { UInt8(truncatingIfNeeded: address >> UInt64(8 * $0)) }
  }

  private func data(_ addresses: UInt64..., names: [String] = [], keys: [[UInt8]] = []) -> PersonalData {
    var data = PersonalData()
    for address in addresses { data.add(address: address) }
    for name in names { data.add(.name, Array(name.utf8)[...]) }
    for key in keys { data.add(.key, key[...]) }
    return data
  }

  /// The redacted copies of records, without what is known and what is found in them.
  private func copies(of records: [CaptureRecord], _ known: PersonalData) -> [CaptureRecord] {
    let finder = PersonalFinder()
    var personal = known
    var dissector = Dissector()
    for record in records {
      finder.learn(dissector.dissect(record.bytes.span.bytes, record.info), into: &personal)
    }
    dissector = Dissector()
    var queue = RecordQueue(Redaction(personal))
    var copies: [CaptureRecord] = []
    for record in records {
      let packet = dissector.dissect(record.bytes.span.bytes, record.info)
      queue.add(packet, linkHeader: record.linkHeader, isSelected: true)
      while let copy = queue.next() { copies.append(copy) }
    }
    queue.finish()
    while let copy = queue.next() { copies.append(copy) }
    return copies
  }

  @Test func addressesAreNumberedAndKeepTheirKind() {
    let data = data(0xD2FF_E21B_1AA1, band, 0x001A_7DDA_7113, band)
    #expect(data.addresses[0xD2FF_E21B_1AA1] == 0xC200_0000_0001)
    #expect(data.addresses[band] == 0x4200_0000_0002)
    #expect(data.addresses[0x001A_7DDA_7113] == 0x0200_0000_0003)
  }

  /// Zero stands for no address, and so do others of firmware that has none.
  @Test(arguments: [0, 0xFFFF_FFFF_FFFF, 0x0000_0000_0100, 0xFF00_0000_00FF] as [UInt64])
  func doesNotRedactPlaceholderAddresses(_ address: UInt64) {
    #expect(data(address).addresses.isEmpty)
  }

  @Test(arguments: ["A", "Anna", "Anna\u{0}", "R02_BEEF", "a name of thirty characters, no"])
  func namesKeepTheirLength(_ name: String) {
    let data = data(names: ["first", name])
    let known = Array(name.utf8.prefix { $0 != 0 })
    #expect(data.names[known]?.count == known.count && data.names[known] != known)
    #expect(Set(data.names.values).count == 2)
  }

  @Test(arguments: AddressForm.allCases)
  func everyFormIsFoundAnywhere(_ form: AddressForm) throws {
    let redaction = Redaction(data(band))
    for offset in 0...9 {
      var packet = [UInt8](repeating: UInt8(ascii: ":"), count: offset + form.length + 3)
      if form == .extendedIdentifier { packet.replaceSubrange(offset + 3..<offset + 5, with: [0xFE, 0xFF]) }
      let before = packet
      form.write(band, to: &packet, at: offset)
      #expect(form.address(in: packet, at: offset) == band)
      redaction.replaceFound(in: &packet, at: nil)
      #expect(form.address(in: packet, at: offset) == 0x4200_0000_0001)
      #expect(packet[..<offset] == before[..<offset] && packet.suffix(3) == before.suffix(3))
    }
  }

  @Test func keysAreFoundInBothOrders() {
    let key = (1...16).map { UInt8($0) }
    let redaction = Redaction(data(keys: [key]))
    var packet = [9] + key + [9] + key.reversed() + [9]
    redaction.replaceFound(in: &packet, at: nil)
    #expect(packet == [9] + [UInt8](repeating: 0, count: 16) + [9] + [UInt8](repeating: 0, count: 16) + [9])
  }

  /// Random packets, most of which are damaged: each is in the copy, in its order and with its length, and what was
  /// known is not.
  @Test func anyPacketsAreCopied() {
    var random = SeededGenerator(seed: 11)
    let personal = data(band, names: ["Anna Band"], keys: [Array(0x21...0x30)])
    let secrets =
      [bytes(band), bytes(band).reversed(), Array("Anna Band".utf8), Array(0x21...0x30)] as [[UInt8]]
    var records: [CaptureRecord] = []
    for number in 1...6000 {
      var packet = random.bytes(Int(random.next() % 60))
      if !packet.isEmpty { packet[0] = UInt8(random.next() % 6) }
      if packet.count > 9, packet[0] == 2, random.next() % 4 > 0 {
        // Parts of frames, on the channels of ATT and of the Security Manager.
        packet.replaceSubrange(
          1..<5, with: [0x40, random.next() % 2 == 0 ? 0x20 : 0x10, UInt8(packet.count - 5), 0])
        packet.replaceSubrange(
          5..<9, with: [UInt8(random.next() % 100), 0, random.next() % 2 == 0 ? 4 : 6, 0])
      }
      if random.next() % 2 == 0 { packet += secrets[Int(random.next() % 4)] }
      let content = CaptureContent.hci(random.next() % 3 == 0 ? .hostToController : .controllerToHost)
      let info = CaptureRecordInfo(
        number: number, microseconds: Int64(number), content: content,
        originalLength: packet.count + Int(random.next() % 3))
      records.append(CaptureRecord(info: info, bytes: packet))
    }
    let copies = copies(of: records, personal)
    #expect(copies.map(\.info) == records.map(\.info))
    #expect(copies.map(\.bytes.count) == records.map(\.bytes.count))
    let left = copies.filter { copy in
      secrets.contains { secret in copy.bytes.indices.contains { copy.bytes[$0...].starts(with: secret) } }
    }
    #expect(left.isEmpty)
  }

  /// The same on the air: parts of frames, some sent again, and anything else; the CRCs stay right, or wrong.
  @Test func anyPacketsOfTheAirAreCopied() {
    var random = SeededGenerator(seed: 23)
    let personal = data(band, names: ["Anna Band"], keys: [Array(0x21...0x30)])
    let secrets =
      [bytes(band), bytes(band).reversed(), Array("Anna Band".utf8), Array(0x21...0x30)] as [[UInt8]]
    var records: [CaptureRecord] = []
    var sn: UInt8 = 0
    for number in 1...6000 {
      let isAdvertising = random.next() % 4 == 0
      let isAgain = random.next() % 5 == 0
      if !isAgain { sn ^= 8 }
      var payload = random.bytes(Int(random.next() % 12))
      if random.next() % 2 == 0 { payload += secrets[Int(random.next() % 4)] }
      if random.next() % 3 > 0 {
        payload = [UInt8(random.next() % 60), 0, random.next() % 2 == 0 ? 4 : 6, 0] + payload
      }
      let kinds: [UInt8] = [1, 2, 2, 3]
      let header: UInt8 = isAdvertising ? UInt8(random.next() % 16) : kinds[Int(random.next() % 4)] | sn
      let pdu = [header, UInt8(payload.count)] + payload
      var writer = ByteWriter()
      writer.write(isAdvertising ? AccessAddress.advertising.rawValue : 0x5065_5BDA)
      writer.write(pdu)
      writer.writeUInt24(
        AirCRC.value(of: pdu.span.bytes, initial: AirCRC.advertising) ^ UInt32(random.next() % 9 / 8))
      var packet = isAgain && number > 1 ? records[number - 2].bytes : writer.bytes
      let whole = packet.count
      if random.next() % 20 == 0 { packet.removeLast(Int(random.next() % UInt64(packet.count))) }
      var reception = AirReception(.linkLayerWithHeader)
      if packet.starts(with: [0xDA]) {
        reception.role = random.next() % 2 == 0 ? .fromCentral : .fromPeripheral
      }
      let info = CaptureRecordInfo(
        number: number, microseconds: Int64(number), content: .air(reception), originalLength: whole)
      records.append(
        CaptureRecord(info: info, bytes: packet, linkHeader: [UInt8(truncatingIfNeeded: number)]))
    }
    let copies = copies(of: records, personal)
    #expect(
      copies.map(\.info) == records.map(\.info) && copies.map(\.linkHeader) == records.map(\.linkHeader))
    #expect(copies.map(\.bytes.count) == records.map(\.bytes.count))
    let left = copies.filter { copy in
      secrets.contains { secret in copy.bytes.indices.contains { copy.bytes[$0...].starts(with: secret) } }
    }
    #expect(left.isEmpty)
    func isRight(_ bytes: [UInt8]) -> Bool {
      guard bytes.count >= 9, bytes.count == 9 + Int(bytes[5]) else { return false }
      let pdu = Array(bytes[4..<bytes.count - 3])
      let value = AirCRC.value(of: pdu.span.bytes, initial: AirCRC.advertising)
      return (0..<3).allSatisfy {
        bytes[bytes.count - 3 + $0] == UInt8(truncatingIfNeeded: value >> UInt32(8 * $0))
      }
    }
    let changed = zip(copies, records).count { isRight($0.bytes) != isRight($1.bytes) }
    #expect(changed == 0)
    // Headers are not searched for addresses.
    #expect(zip(copies, records).allSatisfy { $0.bytes.prefix(6) == $1.bytes.prefix(6) })
  }

  /// A frame that never ends holds nothing up for long.
  @Test func incompleteFrameDoesNotStallCopying() {
    let dissector = Dissector()
    var queue = RecordQueue()
    var count = 0
    func add(_ number: Int, _ packet: [UInt8]) {
      let info = CaptureRecordInfo(
        number: number, microseconds: nil, content: .hci(.hostToController), originalLength: packet.count)
      queue.add(dissector.dissect(packet.span.bytes, info), isSelected: true)
      while let record = queue.next() {
        count += 1
        #expect(record.info.number == count)
      }
    }
    add(1, hex("02 4020 0600 f000 0400 1b03"))
    for number in 2...6000 { add(number, hex("01030c00")) }
    #expect(count > 1000)
    queue.finish()
    while queue.next() != nil { count += 1 }
    #expect(count == 6000)
  }
}
