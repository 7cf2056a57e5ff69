import Glibc

/// How much a broker may send on one connection. halo-raw asks for acknowledgements, for the answers to its keep-alive, and for
/// one topic of a few bytes. libmosquitto allocates the length that a broker announces, and keeps an incomplete packet, so a
/// connection that brings more has to end before the library reads it.
struct ReceiveBudget {
  /// In bytes: certificates, CONNACK and retained messages.
  private static let start = 1 << 16
  /// In bytes, of each acknowledgement: it may have a text (MQTT 5, section 3.4.2.2.2).
  private static let acknowledgement = 256
  /// In bytes: two for each answer to a keep-alive, with the overhead of TLS.
  private static let perSecond = 4.0

  private var acknowledgements = 0

  /// One message or subscription has been answered.
  mutating func acknowledge() { acknowledgements += 1 }

  /// The number of bytes that are still expected of a connection.
  ///
  /// - Parameter age: of the connection, in seconds
  func limit(atAge age: Double) -> Int {
    Self.start + acknowledgements * Self.acknowledgement + Int(max(0, min(age, 1e9)) * Self.perSecond)
  }
}

/// The kernel's counters of a TCP socket.
enum TCPSocket {
  /// TCP_INFO of linux/tcp.h, and the place of tcpi_bytes_received in struct tcp_info, in bytes.
  private static let information: Int32 = 11
  private static let receivedOffset = 128

  /// The number of bytes that have come, also those that were not read.
  ///
  /// - Returns: nil if the kernel does not say
  static func received(_ socket: Int32) -> Int? {
    var length = socklen_t(receivedOffset + 8)
    return withUnsafeTemporaryAllocation(byteCount: Int(length), alignment: 8) { buffer in
      let result = getsockopt(socket, Int32(IPPROTO_TCP), information, buffer.baseAddress, &length)
      guard result == 0, Int(length) >= receivedOffset + 8 else { return nil }
      return Int(clamping: buffer.load(fromByteOffset: receivedOffset, as: UInt64.self))
    }
  }
}
