import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct PacketQueueTests {
  private func packet(_ number: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    [UInt8](repeating: UInt8(number & 0xFF), count: Int.random(in: 0...300, using: &generator))
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
        #expect(Array(queue.first) == model.first ?? [])
        queue.removeFirst()
        if !model.isEmpty { model.removeFirst() }
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
