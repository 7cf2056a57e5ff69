import Glibc
import HaloSystemCalls
import Testing

/// Two connected sockets: one for what is tested, which closes it, and the other for the test. Neither blocks.
public final class SocketPair {
  public let ours: Int32
  public let theirs: Int32

  /// - Parameter keepsPackets: whether the sockets carry packets instead of bytes
  public init(keepsPackets: Bool = false) throws {
    var pair: [Int32] = [-1, -1]
    let type = keepsPackets ? SOCK_SEQPACKET : SOCK_STREAM
    try #require(socketpair(AF_UNIX, Int32(type.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
    (ours, theirs) = (pair[0], pair[1])
  }

  deinit {
    close(theirs)
  }

  /// Removes what is left of the faults while the descriptor is still ours: its number is used again.
  public func finish() {
    #if DEBUG
      FaultPlan.removeAll(on: ours)
    #endif
  }

  public func write(_ bytes: [UInt8]) {
    #expect(Glibc.write(theirs, bytes, bytes.count) == bytes.count)
  }

  /// What is there: bytes, or one packet.
  public func read() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = Glibc.read(theirs, &buffer, buffer.count)
    return Array(buffer.prefix(max(0, count)))
  }
}
