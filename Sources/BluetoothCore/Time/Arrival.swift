/// When a packet was received, and by which read. What one read brings was there before a request that is sent while it is
/// handled, and so does not answer it.
package struct Arrival: Hashable, Sendable {
  package var time: Instant
  /// The number of the read; 0 if the transport does not count.
  package var read: UInt64

  package init(_ time: Instant, read: UInt64 = 0) {
    (self.time, self.read) = (time, read)
  }
}
