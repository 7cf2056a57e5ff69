import Glibc
import HaloSystem

/// Publishes messages. Records go in order, with QoS 1: each is on disk from when it is added until the broker has it,
/// also over the end of the process. States are sent again with each connection. One thread stores, and one talks to
/// the broker; no call but ``finish(within:)`` waits for them.
package final class Publisher: Sendable {
  /// An event for the user.
  package enum Event: Hashable, Sendable {
    case connected
    /// The broker does not want this client; it is tried again all the same.
    case refused(String)
    /// There is no connection, and none can be made.
    case unreachable(String)
    /// The oldest messages are dropped, because too many wait.
    case dropping
    /// Messages wait in memory, because they can't be stored.
    case notStored(QueueError)
    /// The queue was damaged: it is kept in this file, and a new one has taken its place.
    case damaged(String)
    /// The broker does not take a message of this topic and this number of bytes.
    case notTaken(topic: String, size: Int, reason: String)
    /// The broker refuses the subscription that reports the start of Home Assistant.
    case notSubscribed(topic: String, reason: String)
  }

  /// The messages that were not published.
  package struct Remainder: Hashable, Sendable {
    /// The number of messages on disk, which are sent when the queue is used again.
    package var kept: Int
    /// The number of messages that no subscriber will ever get.
    package var lost: Int
    /// The number of messages that the broker does not take.
    package var aside = 0
  }

  /// The broker, and how to connect to it.
  package struct Target: Hashable, Sendable {
    package var address: BrokerAddress
    package var security: BrokerSecurity
    /// The prefix of Home Assistant's discovery, which has `status` with `online` when it starts; nil if it is not
    /// served.
    package var discovery: String?

    package init(
      _ address: BrokerAddress, security: BrokerSecurity = BrokerSecurity(),
      discovery: String? = HomeAssistant.standardPrefix
    ) {
      self.address = address
      self.security = security
      self.discovery = discovery
    }
  }

  /// How long a broker may take to answer the request to connect, in seconds.
  package static let answerLimit = 10.0

  private let exchange: Exchange

  /// Starts to publish the messages of the queue.
  ///
  /// - Parameters:
  ///   - library: libmosquitto
  ///   - queue: which nothing else uses
  ///   - target: the broker
  ///   - answerLimit: how long the broker may take to answer the request to connect, in seconds
  ///   - report: called on other threads
  /// - Returns: nil if there are no threads or no memory for it
  package init?(
    _ library: Mosquitto, _ target: Target, queue: sending MessageQueue,
    answerLimit: Double = Publisher.answerLimit, report: @escaping @Sendable (Event) -> Void
  ) {
    let exchange = Exchange(kept: queue.count, aside: queue.asideCount)
    self.exchange = exchange
    guard exchange.signal >= 0 else { return nil }
    let name = queue.client
    // OpenSSL and SQLite need more than the usual stack.
    let stack = 1 << 20
    let owned = Owned(queue)
    guard
      HelperThread.start(stackSize: stack, { QueueKeeper(exchange, owned.take(), report).run() }) == 0
    else { return nil }
    let talk = { @Sendable in
      MQTTSession(exchange, library, target, name: name, answerLimit: answerLimit, report).run()
      exchange.stop()
    }
    if HelperThread.start(stackSize: stack, talk) != 0 {
      exchange.stop()
      return nil
    }
  }

  /// Moves the queue to its thread, which is the only one to keep it: it is closed there.
  private final class Owned: @unchecked Sendable {
    private var queue: MessageQueue?
    init(_ queue: sending MessageQueue) { self.queue = queue }

    func take() -> MessageQueue? {
      defer { queue = nil }
      return queue
    }
  }

  /// The kernel's monotonic clock, in seconds.
  static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Adds a message. Never waits.
  package func add(_ message: Message) { exchange.add(message) }

  /// Does not publish the announcements and states of these topics again.
  package func withdraw(_ topics: Set<String>) { exchange.withdraw(topics) }

  /// The number of messages that the broker does not have yet.
  package var waiting: Int { exchange.waiting }
  /// The number of messages that the broker does not take.
  package var aside: Int { exchange.aside }

  /// Waits until all is published, at most the given number of seconds of the kernel's clock. Adds nothing afterwards.
  package func finish(within seconds: Double) -> Remainder {
    exchange.end(within: seconds)
    return exchange.waitForClose(seconds + 2 * MQTTSession.closingTimeout)
  }
}
