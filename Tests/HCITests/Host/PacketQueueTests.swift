import TestSupport
import Testing

@testable import HCI

@Suite struct PacketQueueTests {
  private func packet(_ number: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    let length = Int.random(in: 0...300, using: &generator)
    return [2, UInt8(number & 0xFF), 0, UInt8(length & 0xFF), UInt8(length >> 8)]
      + [UInt8](repeating: UInt8(number >> 8 & 0xFF), count: length)
  }

  /// Beside a list of packets.
  @Test func packetsComeOutAsTheyWentIn() {
    var generator = SeededGenerator(seed: 11)
    var (queue, model) = (PacketQueue(), [[UInt8]]())
    for number in 0..<20_000 {
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<9:
        let packet = packet(number, &generator)
        queue.append(packet.span.bytes)
        model.append(packet)
      case 9..<19:
        guard !model.isEmpty else { continue }
        let first = Array(queue.first)
        #expect(first == model.removeFirst())
        queue.removeFirst()
      default:
        var others = PacketQueue()
        for _ in 0..<3 {
          let packet = packet(number, &generator)
          others.append(packet.span.bytes)
          model.append(packet)
        }
        queue.append(&others)
        #expect(others.isEmpty)
      }
      #expect(queue.count == model.count && queue.isEmpty == model.isEmpty)
    }
  }
}
