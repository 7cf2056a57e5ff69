import Glibc
import HaloSystem

/// Sends the messages to the broker, over one connection after another. For one thread.
final class MQTTSession {
  private let exchange: Exchange
  private let library: Mosquitto
  private let target: Publisher.Target
  private let name: String
  private let topics: Topics
  private let report: (Publisher.Event) -> Void
  /// How long a broker may take to answer the request to connect, in seconds.
  private let answerLimit: Double
  private var connection: BrokerConnection?
  /// How the connection has ended, until that is dealt with.
  private var ended: BrokerConnection.End?
  private var delivery = Delivery(window: Exchange.window)
  private var version = BrokerConnection.Version.five
  private var isVersionKnown = false
  private var pause = shortestPause
  private var nextAttempt = 0.0
  /// When the broker has last answered, or was last asked.
  private var lastProgress = 0.0
  /// When all states are sent again; nil if Home Assistant has not just started.
  private var birth: Double?
  /// Whether a last attempt to connect was made at the end.
  private var hasTriedAgain = false
  /// The number of the message that says goodbye.
  private var farewell: Int32?
  private var isFarewellDone = false

  // In seconds.
  private static let shortestPause = 1.0
  private static let longestPause = 30.0
  /// How long a broker may take to acknowledge.
  private static let acknowledgementTimeout = 60.0
  /// Home Assistant announces its start a little before it listens to discovery.
  private static let birthDelay = 2.0
  static let closingTimeout = 1.0

  init(
    _ exchange: Exchange, _ library: Mosquitto, _ target: Publisher.Target, name: String, answerLimit: Double,
    _ report: @escaping (Publisher.Event) -> Void
  ) {
    self.answerLimit = answerLimit
    self.exchange = exchange
    self.library = library
    self.target = target
    self.name = name
    self.report = report
    topics = Topics(target.address.prefix)
  }

  private var status: Message { Message(topic: topics.status, text: Topics.online, kind: .announcement) }
  private var goodbye: Message { Message(topic: topics.status, text: Topics.offline, kind: .announcement) }
  private var birthTopic: String? { target.discovery.map { "\($0)/status" } }

  /// Works until the end that the exchange has, or until nothing more can be done.
  func run() {
    while true {
      send()
      if hasEnded { break }
      if connection == nil, Publisher.now >= nextAttempt { connect() }
      wait()
      connection?.work()
      watch()
      settle()
    }
    connection?.onEvent = { _ in }
    connection = nil
  }

  private func connect() {
    let connection = BrokerConnection(
      library, target.address, target.security, version, name: name, will: goodbye, window: Exchange.window)
    guard let connection else { return disconnected { .unreachable("out of memory") } }
    self.connection = connection
    connection.onEvent = { [unowned self] in take($0) }
    connection.connect()
    settle()
  }

  /// Sends the waiting messages, as far as the broker has answered earlier ones.
  private func send() {
    let new = exchange.take()
    delivery.add(new.states.map { Delivery.Item(.message($0)) } + new.entries.map { Delivery.Item($0) })
    guard let connection, connection.isConnected else { return }
    if let birth, Publisher.now >= birth {
      self.birth = nil
      delivery.add(([status] + exchange.takeStates()).map { Delivery.Item(.message($0)) })
    }
    while let item = delivery.next() {
      if !delivery.isUnderway { lastProgress = Publisher.now }
      let sent =
        switch item.content {
        case .message(let message): connection.publish(message)
        case .subscription(let topic): connection.subscribe(topic)
        }
      switch sent {
      case .number(let number): delivery.sent(item, as: number)
      case .impossible(let reason): setAside(item, reason)
      }
    }
    for message in new.momentary { _ = connection.publish(message) }
  }

  private func setAside(_ item: Delivery.Item, _ reason: String) {
    delivery.refuse(item)
    switch item.content {
    case .message(let message):
      report(.notTaken(topic: message.topic, size: message.payload.count, reason: reason))
      exchange.refuse(message, item.receipt, reason: reason)
    case .subscription(let topic): report(.notSubscribed(topic: topic, reason: reason))
    }
  }

  /// Whether all is done, or the time is over; disconnects before.
  private var hasEnded: Bool {
    let ending = exchange.ending
    guard let end = ending.time else { return false }
    if isFarewellDone { return true }
    guard let connection, ending.isConnected else {
      guard hasTriedAgain else {
        // It may be back.
        (hasTriedAgain, nextAttempt) = (true, 0)
        exchange.forgetFailure()
        return false
      }
      return ending.hasFailed || Publisher.now >= end
    }
    if farewell == nil, (ending.isDone && delivery.isEmpty) || Publisher.now >= end {
      farewell = if case .number(let number) = connection.publish(goodbye) { number } else { 0 }
      if farewell == 0 { return true }
    }
    return Publisher.now >= end + Self.closingTimeout
  }

  /// Waits for the broker or for the other thread.
  private func wait() {
    let socket = connection?.socket ?? -1
    let wantsToWrite = connection?.wantsToWrite ?? false
    var events = [
      pollfd(fd: exchange.signal, events: Int16(POLLIN), revents: 0),
      pollfd(fd: socket, events: Int16(POLLIN) | (wantsToWrite ? Int16(POLLOUT) : 0), revents: 0),
    ]
    // The library has to be called now and then for its keep-alive; and TLS may hold back bytes that it has read already.
    var limit = target.address.usesTLS && delivery.isUnderway ? 0.1 : 5
    if connection == nil { limit = min(limit, max(0, nextAttempt - Publisher.now)) }
    if let birth { limit = min(limit, max(0, birth - Publisher.now)) }
    if let end = connection?.answerEnd(within: answerLimit) {
      limit = min(limit, max(0, end - Publisher.now))
    }
    if exchange.ending.time != nil { limit = min(limit, 0.1) }
    _ = poll(&events, nfds_t(events.count), Int32(limit * 1000) + 1)
    var count: UInt64 = 0
    if events[0].revents != 0 { _ = SystemCall.read(exchange.signal, &count, 8) }
  }

  /// Leaves a broker that does not answer, though the connection is alive.
  private func watch() {
    if let end = connection?.answerEnd(within: answerLimit), Publisher.now >= end {
      connection?.endUnanswered(after: answerLimit)
      return
    }
    guard delivery.isUnderway, Publisher.now > lastProgress + Self.acknowledgementTimeout else { return }
    connection?.end("it has acknowledged nothing for \(Int(Self.acknowledgementTimeout)) s", byBroker: true)
  }

  private func take(_ event: BrokerConnection.Event) {
    lastProgress = Publisher.now
    switch event {
    case .connected:
      isVersionKnown = true
      birth = nil
      let subscription = birthTopic.map { Delivery.Item(.subscription($0)) }
      delivery.begin(
        [Delivery.Item(.message(status))] + (subscription.map { [$0] } ?? [])
          + exchange.takeStates().map { Delivery.Item(.message($0)) })
      report(.connected)
      exchange.setConnected(true)
    case .ended(let end): ended = ended ?? end
    case .subscribed(let number): _ = delivery.answered(number)
    case .heard(let topic, let payload):
      if topic == birthTopic, payload == Array(Topics.online.utf8), birth == nil {
        birth = Publisher.now + Self.birthDelay
      }
    case .answered(let number, let code): answered(number, code)
    }
  }

  private func answered(_ number: Int32, _ code: ReasonCode) {
    if number == farewell {
      isFarewellDone = true
      connection?.disconnect()
      return
    }
    let reason = connection?.text(of: code) ?? ""
    switch code.publishOutcome {
    case .later, .failed:
      connection?.end("it answers a message with: \(reason)", byBroker: code.publishOutcome == .failed)
    case .taken:
      guard let item = delivery.answered(number), case .message(let message) = item.content else { return }
      // A broker that takes nothing but its status is asked less and less often.
      if item.receipt != nil || !delivery.hasStored { pause = Self.shortestPause }
      exchange.acknowledge(message, item.receipt)
    case .refused:
      guard let item = delivery.answered(number) else { return }
      setAside(item, reason)
    }
  }

  /// Handles the end of the connection, outside of the library's callbacks.
  private func settle() {
    guard let end = ended, let connection else { return }
    ended = nil
    let isSilent = connection.hasReached && !connection.hasAnswered
    connection.onEvent = { _ in }
    self.connection = nil
    var byBroker = false
    if case .lost(_, true) = end { byBroker = true }
    if let poison = delivery.end(byBroker: byBroker) {
      setAside(poison, "it has ended \(Delivery.maximumLosses) connections")
      pause = Self.shortestPause
    }
    switch end {
    case .otherVersion:
      (version, isVersionKnown, nextAttempt) = (.three, true, 0)
    case .lost where !isVersionKnown && isSilent:
      // Some brokers of version 3.1.1 end the connection without a reason.
      let isRetried = version == .five
      version = isRetried ? .three : .five
      if isRetried { nextAttempt = 0 } else { disconnected { event(of: end) } }
    case .silent:
      // Some brokers of version 3.1.1 may not answer another one.
      if !isVersionKnown { version = version == .five ? .three : .five }
      disconnected { event(of: end) }
    case .flooded:
      // Whatever it has taken in between.
      pause = Self.longestPause
      disconnected { event(of: end) }
    case .lost, .refused: disconnected { event(of: end) }
    }
  }

  private func event(of end: BrokerConnection.End) -> Publisher.Event {
    switch end {
    case .refused(let reason): .refused(reason)
    case .lost(let reason, _), .flooded(let reason): .unreachable(reason)
    case .silent(let limit):
      .unreachable("it accepts connections and does not answer (within \(Int(limit)) s)")
    case .otherVersion: .unreachable("it does not speak this version of MQTT")
    }
  }

  /// Reports the first failure after a connection.
  private func disconnected(_ event: () -> Publisher.Event) {
    guard !isFarewellDone else { return }
    nextAttempt = Publisher.now + pause
    pause = min(pause * 2, Self.longestPause)
    if exchange.isFailureNew { report(event()) }
    exchange.setConnected(false)
  }
}
