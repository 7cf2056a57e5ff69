import Glibc
import HaloSystem
import Testing

/// Two connected sockets: one for what is tested, which closes it, and the other for the test. Neither blocks.
package final class SocketPair {
  package let ours: Int32
  package let theirs: Int32

  /// - Parameter keepsPackets: whether the sockets carry packets instead of bytes
  package init(keepsPackets: Bool = false) throws {
    var pair: [Int32] = [-1, -1]
    let type = keepsPackets ? SOCK_SEQPACKET : SOCK_STREAM
    try #require(socketpair(AF_UNIX, Int32(type.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
    (ours, theirs) = (pair[0], pair[1])
  }

  deinit {
    close(theirs)
  }

  /// Removes what is left of the faults while the descriptor is still ours: its number is used again.
  package func finish() {
    #if DEBUG
      FaultPlan.removeAll(on: ours)
    #endif
  }

  package func write(_ bytes: [UInt8]) {
    #expect(Glibc.write(theirs, bytes, bytes.count) == bytes.count)
  }

  /// What is there: bytes, or one packet.
  package func read() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = Glibc.read(theirs, &buffer, buffer.count)
    return Array(buffer.prefix(max(0, count)))
  }
}
