/// The messages to send next, those under way, and those that the broker does not take.
///
/// A broker may end the connection because of one message, and does not report which. So messages that were under way at such
/// an end are sent again one by one; and a message that ends three connections while it is alone under way is set aside, so
/// that the others get through.
struct Delivery {
  /// Something that the broker answers.
  struct Item {
    enum Content: Hashable {
      case message(Message)
      /// A topic.
      case subscription(String)
    }

    var content: Content
    /// The receipt of a message in the queue on disk.
    var receipt: MessageQueue.Receipt?

    init(_ content: Content, receipt: MessageQueue.Receipt? = nil) {
      self.content = content
      self.receipt = receipt
    }

    init(_ entry: MessageQueue.Entry) {
      self.init(.message(entry.message), receipt: MessageQueue.Receipt(entry))
    }

    fileprivate var name: Name {
      switch content {
      case .message(let message): receipt.map { .stored($0) } ?? .topic(message.topic)
      case .subscription(let topic): .subscription(topic)
      }
    }
  }

  fileprivate enum Name: Hashable {
    case stored(MessageQueue.Receipt)
    case topic(String)
    case subscription(String)
  }

  /// The number of items that may wait for their answer.
  private let window: Int
  /// How many connections an item may end.
  static let maximumLosses = 3
  private var waiting: [Item] = []
  private var underway: [(number: Int32, item: Item)] = []
  /// The number of items that are sent one by one.
  private var probes = 0
  private var suspect: (name: Name, losses: Int)?
  /// Not in the queue, and not taken by this broker.
  private var refused: Set<Name> = []

  init(window: Int) {
    self.window = window
  }

  /// Whether nothing waits and nothing is under way.
  var isEmpty: Bool { waiting.isEmpty && underway.isEmpty }
  /// Whether something waits for an answer.
  var isUnderway: Bool { !underway.isEmpty }
  /// Whether a message of the queue waits, or is under way.
  var hasStored: Bool { (waiting + underway.map(\.item)).contains { $0.receipt != nil } }

  /// Adds items behind the others.
  mutating func add(_ items: [Item]) { waiting += items.filter { !refused.contains($0.name) } }

  /// A connection begins.
  ///
  /// - Parameter first: the messages at the beginning of each connection
  mutating func begin(_ first: [Item]) {
    waiting = first.filter { !refused.contains($0.name) } + waiting
    if probes > 0 { probes = waiting.count }
  }

  /// The next item to send; nil if there is none now.
  mutating func next() -> Item? {
    guard !waiting.isEmpty, underway.count < (probes > 0 ? 1 : window) else { return nil }
    return waiting.removeFirst()
  }

  /// An item was sent, and its answer will have this number.
  mutating func sent(_ item: Item, as number: Int32) { underway.append((number, item)) }

  /// An answer has come.
  ///
  /// - Returns: the message; nil if that is not known
  mutating func answered(_ number: Int32) -> Item? {
    guard let index = underway.firstIndex(where: { $0.number == number }) else { return nil }
    probes = max(0, probes - 1)
    let item = underway.remove(at: index).item
    if suspect?.name == item.name { suspect = nil }
    return item
  }

  /// Never sends an item that is not in the queue again.
  mutating func refuse(_ item: Item) {
    if item.receipt == nil { refused.insert(item.name) }
  }

  /// A connection has ended.
  ///
  /// - Parameter byBroker: whether a message under way may be the reason
  /// - Returns: the item that is not sent again; nil for none
  mutating func end(byBroker: Bool) -> Item? {
    let before = underway.map(\.item)
    underway = []
    probes = byBroker && !before.isEmpty ? max(1, probes) : probes
    var poison: Item?
    if byBroker, before.count == 1, let only = before.first {
      let losses = suspect?.name == only.name ? suspect?.losses ?? 0 : 0
      suspect = (only.name, losses + 1)
      if losses + 1 >= Self.maximumLosses {
        poison = only
        suspect = nil
        refuse(only)
      }
    }
    // The states are sent with the next connection anyway, and as they will be then.
    let kept = before.filter { $0.receipt != nil && $0.name != poison?.name }
    waiting = kept + waiting.filter { $0.receipt != nil }
    return poison
  }
}
