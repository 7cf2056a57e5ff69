import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloDissection

/// Every HCI command, event, signalling and SMP packet that there can be, each with parameters of several lengths: the
/// fields of a packet cover all of its bytes, once and in order.
@Suite struct EveryPacketTests {
  private func checkFields(_ packet: [UInt8], isSent: Bool, sourceLocation: SourceLocation = #_sourceLocation)
  {
    let dissected = Script().packet(packet, isSent: isSent)
    checkBits(dissected, sourceLocation)
    let fields = dissected.layers.flatMap { dissected.fields(of: $0) }
    var end = 0
    for (index, field) in fields.enumerated() where !field.range.isEmpty {
      // A group has its fields behind it.
      if index + 1 < fields.count, fields[index + 1].depth > field.depth { continue }
      #expect(
        field.range.lowerBound == end, "\(Hex.string(packet)): \(field)", sourceLocation: sourceLocation)
      end = field.range.upperBound
    }
    #expect(end == packet.count, "\(Hex.string(packet))", sourceLocation: sourceLocation)
  }

  /// Bits that are listed are in the field above them, and nothing else changes by listing them.
  private func checkBits(_ packet: DissectedPacket, _ sourceLocation: SourceLocation) {
    for layer in packet.layers {
      let fields = packet.fields(of: layer, namesBits: true)
      var rest: [PacketField] = []
      for field in fields {
        let isBit = field.name == "off" || field.name.hasPrefix("bit ") || field.name.hasPrefix("octet ")
        guard isBit else {
          rest.append(field)
          continue
        }
        #expect(field.depth == (rest.last?.depth ?? 0) + 1, sourceLocation: sourceLocation)
        #expect(rest.last?.range.clamped(to: field.range) == field.range, sourceLocation: sourceLocation)
        #expect(field.value.utf8.count <= 110, sourceLocation: sourceLocation)
      }
      #expect(rest == packet.fields(of: layer), sourceLocation: sourceLocation)
    }
  }

  private func packet(_ header: [UInt8], _ parameters: [UInt8]) -> [UInt8] {
    header + [UInt8(parameters.count)] + parameters
  }

  @Test(arguments: [0, 1, 6, 11, 40, 90])
  func commands(length: Int) {
    var generator = SeededGenerator(seed: UInt64(length))
    for group in UInt16(1)...8 {
      for command in UInt16(0)...0xB0 {
        let opcode = group << 10 | command
        let header = [1, UInt8(truncatingIfNeeded: opcode), UInt8(opcode >> 8)]
        checkFields(packet(header, generator.bytes(length)), isSent: true)
        checkFields(
          packet([4, 0x0E], [1] + header.dropFirst() + [0] + generator.bytes(length)), isSent: false)
      }
    }
  }

  @Test(arguments: [0, 1, 6, 11, 40, 90])
  func events(length: Int) {
    var generator = SeededGenerator(seed: UInt64(length))
    for code in UInt8.min...0xFE {
      checkFields(packet([4, code], generator.bytes(length)), isSent: false)
      checkFields(packet([4, 0x3E], [code] + generator.bytes(length)), isSent: false)
    }
  }

  @Test(arguments: [UInt16(5), 6], [1, 2, 6, 12, 30])
  func signalsAndPairing(channel: UInt16, length: Int) {
    var generator = SeededGenerator(seed: UInt64(length))
    for code in UInt8.min...0x1A {
      let data = generator.bytes(length)
      let signal = [code, 1, UInt8(length), 0] + data
      let frame = channel == 5 ? signal : [code] + data
      checkFields(Script.acl(frame, channel: channel, isSent: false), isSent: false)
    }
  }
}
