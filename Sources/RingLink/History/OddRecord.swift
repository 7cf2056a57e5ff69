import HaloBluetoothCore

/// A stored record of a ring that cannot be what it says, such as a night of 50 hours or a day in month 0. It is left out;
/// the others of the same answer are used.
package struct OddRecord: Hashable, Sendable, CustomStringConvertible {
  package var kind: HistoryKind
  /// Why it is left out.
  package var reason: String
  /// As the ring sent it: the frames, or the part of the bulk payload.
  package var bytes: [UInt8]

  package init(kind: HistoryKind, reason: String, bytes: [UInt8]) {
    self.kind = kind
    self.reason = reason
    self.bytes = bytes
  }

  /// `sleep: it would last 50 h: 00 0e ...`
  package var description: String { "\(kind.rawValue): \(reason): \(Hex.string(bytes, separator: " "))" }
}

extension RingClient {
  /// Reports a record that is left out.
  func leaveOut(_ kind: HistoryKind, _ reason: String, _ bytes: [UInt8]) {
    onOddRecord?(OddRecord(kind: kind, reason: reason, bytes: bytes))
  }

  /// The contents of a log that is about one day.
  ///
  /// - Returns: nil if the answer cannot be read; it is reported as an odd record
  func readableLog<Assembler>(
    _ kind: HistoryKind, _ log: RingLog<Assembler>, _ request: Assembler.Request,
    progress: ((Int, Int?) -> Void)?
  ) async throws(RingError) -> Assembler.Contents? {
    let answer = try await receive(log, request, progress: progress)
    switch answer {
    case .contents(let contents): return contents
    case .unreadable(let error, let frames):
      leaveOut(kind, "\(error)", frames.flatMap(\.bytes))
      return nil
    }
  }
}
