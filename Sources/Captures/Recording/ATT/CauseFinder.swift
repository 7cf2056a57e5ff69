import ATT
import HaloCapture

/// Finds the write that a notification answers.
///
/// A capture does not show which notification answers which write. In this order:
/// - where the answers of a protocol begin with the first byte of the command, as most do: the last such write;
/// - the write of the notifications before, if several of one kind follow each other: a stream;
/// - the last write in the same service, if it was a moment ago.
///
/// Without one, a notification is an effect of the subscription. The cause decides when a replay sends a notification, never
/// whether.
struct CauseFinder {
  /// The longest pause within a stream, in microseconds.
  private static let streamPause: Int64 = 5_000_000
  /// The number of notifications that make a stream.
  private static let streamCount = 3

  private struct Kind: Hashable {
    var handle: AttributeHandle
    var first: UInt8?
  }

  private let exchanges: [RecordedDialogue.Exchange]
  private let attributes: RecordedAttributes
  /// The exchanges before the current notification, by their subjects.
  private var position = 0
  private var lastWrite: [HandleRange?: Int] = [:]
  private var lastWriteByFirst: [UInt8: [HandleRange?: Int]] = [:]
  private var subscriptions: [AttributeHandle: Int] = [:]
  private var streams: [Kind: (anchor: Int, time: Int64, count: Int)] = [:]
  private var services: [AttributeHandle: HandleRange?] = [:]

  init(_ exchanges: [RecordedDialogue.Exchange], _ attributes: RecordedAttributes) {
    self.exchanges = exchanges
    self.attributes = attributes
  }

  /// - Returns: the index of the exchange; of the last one for a request of the server
  mutating func cause(of pdu: RecordedConnection.PDU, _ handle: AttributeHandle?) -> Int? {
    while position < exchanges.count, exchanges[position].packet < pdu.packet { pass(position) }
    guard let handle else { return position > 0 ? position - 1 : nil }
    let kind = Kind(handle: handle, first: pdu.bytes.count > 3 ? pdu.bytes[3] : nil)
    guard let found = find(pdu, handle, kind) else { return nil }
    let before = streams[kind].flatMap { $0.anchor == found ? $0.count : nil } ?? 0
    streams[kind] = (found, pdu.time, before + 1)
    return found
  }

  private mutating func pass(_ index: Int) {
    position += 1
    let exchange = exchanges[index]
    guard case .write(let handle) = exchange.subject else { return }
    if let owner = attributes.owner(ofConfiguration: handle) {
      if exchange.errorCode == nil, (exchange.value.first ?? 0) != 0 { subscriptions[owner] = index }
      return
    }
    let service = self.service(of: handle)
    lastWrite[service] = index
    if let first = exchange.value.first { lastWriteByFirst[first, default: [:]][service] = index }
  }

  private mutating func service(of handle: AttributeHandle) -> HandleRange? {
    if let known = services[handle] { return known }
    let found = attributes.service(of: handle)
    services[handle] = .some(found)
    return found
  }

  /// The last of some writes that may concern a characteristic in `service`: one in the same service, or one whose
  /// service is unknown.
  private func last(_ writes: [HandleRange?: Int], in service: HandleRange?) -> Int? {
    guard let service else { return writes.values.max() }
    return [writes[service], writes[nil]].compactMap { $0 }.max()
  }

  /// Whether a later write begins like this one.
  private func isRepeated(_ index: Int, in service: HandleRange?) -> Bool {
    guard case .write(let handle) = exchanges[index].subject, let write = last(lastWrite, in: service),
      write > index
    else { return false }
    return exchanges[write].subject == .write(handle)
      && exchanges[write].value.first == exchanges[index].value.first
  }

  private mutating func find(_ pdu: RecordedConnection.PDU, _ handle: AttributeHandle, _ kind: Kind) -> Int? {
    let service = self.service(of: handle)
    let stream = streams[kind].flatMap { stream -> Int? in
      let isStream = stream.count >= Self.streamCount && pdu.time - stream.time <= Self.streamPause
      return isStream && !isRepeated(stream.anchor, in: service) ? stream.anchor : nil
    }
    if let first = kind.first, let writes = lastWriteByFirst[first], let echo = last(writes, in: service),
      pdu.time - exchanges[echo].time <= AnswerTime.echo
    {
      return max(echo, stream ?? echo)
    }
    if let stream { return stream }
    guard let write = last(lastWrite, in: service), write > subscriptions[handle] ?? -1,
      pdu.time - exchanges[write].time <= AnswerTime.other
    else { return nil }
    return write
  }
}
