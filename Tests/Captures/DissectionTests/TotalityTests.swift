import ATT
import HaloBluetoothCore
import HaloCapture
import HaloGATT
import TestSupport
import Testing

@testable import HaloDissection

/// Whatever a capture holds, it is taken apart; nothing traps, and nothing grows.
@Suite struct TotalityTests {
  /// The project's own captures.
  private static let captures: [[CaptureRecord]] = {
    let folder = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let names = [
      "virtual-inspect", "virtual-parameters", "bumble-inspect", "bumble-subscribe", "virtual-retry",
    ]
    return names.map { name in
      var records: [CaptureRecord] = []
      guard var reader = try? CaptureReader(path: "/\(folder)/captures/\(name).btsnoop") else { return [] }
      while let record = try? reader.next() { records.append(record) }
      return records
    }
  }()

  /// Asks for all that there is to say.
  private func read(_ packet: DissectedPacket) {
    _ = packet.summary
    for layer in packet.layers {
      _ = packet.summary(of: layer)
      #expect(packet.fields(of: layer).outside(packet.bytes(of: layer).count).isEmpty, "\(packet)")
    }
  }

  @Test func everyByteOfGoodCapturesHasAField() {
    for records in Self.captures {
      #expect(!records.isEmpty)
      let dissector = Dissector()
      for record in records {
        let packet = dissector.dissect(record.bytes.span.bytes, record.info)
        read(packet)
        var covered = Set<Int>()
        for layer in packet.layers {
          let fields = packet.fields(of: layer)
          #expect(
            !fields.contains { $0.name == "damaged" || $0.name == "more bytes than known" }, "\(packet)")
          if packet.reassembled == nil { for field in fields { covered.formUnion(field.range) } }
        }
        if packet.reassembled == nil { #expect(covered.count == packet.bytes.count, "\(packet)") }
      }
    }
  }

  @Test func damagedCapturesAreReadToTheEnd() {
    var generator = SeededGenerator(seed: 5)
    for records in Self.captures {
      let dissector = Dissector()
      for record in records {
        var bytes = record.bytes
        switch generator.next() % 4 {
        case 0: bytes[Int(generator.next() % UInt64(bytes.count))] ^= UInt8(1 << (generator.next() % 8))
        case 1: bytes.removeLast(Int(generator.next() % UInt64(bytes.count)))
        case 2: bytes += generator.bytes(Int(generator.next() % 40))
        default: break
        }
        var info = record.info
        if generator.next() % 8 == 0 { info.microseconds = Int64(bitPattern: generator.next()) }
        read(dissector.dissect(bytes.span.bytes, info))
      }
    }
  }

  @Test func randomPacketsAreRead() {
    var generator = SeededGenerator(seed: 6)
    let dissector = Dissector()
    for number in 1...20_000 {
      var bytes = generator.bytes(Int(generator.next() % 64))
      if !bytes.isEmpty { bytes[0] = UInt8(generator.next() % 6) }
      // Half of the data looks like ATT on some link.
      if generator.next() % 2 == 0 {
        bytes = Script.acl(
          bytes, channel: UInt16(4 + generator.next() % 3), isSent: generator.next() % 2 == 0,
          link: UInt16(generator.next() % 0xF00))
      }
      let direction: CaptureDirection? =
        [.hostToController, .controllerToHost, nil][Int(generator.next() % 3)]
      read(
        dissector.dissect(
          bytes.span.bytes,
          CaptureRecordInfo(
            number: number, microseconds: Int64(bitPattern: generator.next()),
            adapter: UInt16(truncatingIfNeeded: generator.next()), content: .hci(direction),
            originalLength: bytes.count)))
    }
    #expect(dissector.adapterCount <= Dissector.adapterCapacity + 1)
  }

  @Test func stateIsBounded() {
    let dissector = Dissector()
    let state = AdapterState([], SecurityKnowledge(DissectionSecrets()))
    var number = 0
    func take(_ bytes: [UInt8]) {
      number += 1
      let info = CaptureRecordInfo(
        number: number, microseconds: 0, content: .hci(.controllerToHost), originalLength: bytes.count)
      var packet = DissectedPacket()
      packet.begin(bytes.span.bytes, info)
      state.dissect(&packet, bytes.span.bytes)
      _ = dissector.dissect(bytes.span.bytes, info)
    }
    for link in UInt16(0)..<0xE00 {
      take(Script.acl(hex("0a0300"), channel: 4, isSent: true, link: link))
      take(hex("01 0c20 02 01 00".dense))
    }
    #expect(state.links.open.count == LinkFollower<DissectedLink>.capacity)
    #expect(dissector.openRequests.count == LinkFollower<DissectedLink>.capacity)
    var table = AttributeTable()
    for handle in HandleRange.all.start.rawValue...0xFFFF {
      let found = ATTHandleAndType(handle: .init(handle), type: GATTUUID.clientCharacteristicConfiguration)
      table.learned.learn(ATTFindInformationRequest(.all), ATTFindInformationResponse([found]))
    }
    #expect(table.handles.count == LearnedAttributes.capacity)
  }
}
