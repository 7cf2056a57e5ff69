import Glibc

/// One connection to a broker. The fate of messages without an acknowledgement at its end is unknown: a new connection is a new
/// client, which keeps nothing of this one. For one thread, on which it calls back.
final class BrokerConnection {
  /// Which version of MQTT is spoken.
  enum Version {
    case five
    /// Version 3.1.1.
    case three
  }

  /// An event of the connection.
  enum Event {
    case connected
    /// The broker has answered the message of this number.
    case answered(Int32, ReasonCode)
    /// The broker has answered the subscription.
    case subscribed(Int32)
    /// A message has come, which was published now.
    case heard(topic: String, payload: [UInt8])
    /// There is no connection any more, or there never was; the last event.
    case ended(End)
  }

  /// Why a connection has ended.
  enum End: Hashable {
    /// The broker does not want this client: the user or the password is wrong, or it is not allowed.
    case refused(String)
    /// The broker does not speak this version.
    case otherVersion
    /// It has accepted the TCP connection, and has not answered for this number of seconds.
    case silent(Double)
    /// - Parameter byBroker: whether the broker has probably ended it because of a message
    case lost(String, byBroker: Bool)
    /// The broker has sent much more than was asked for.
    case flooded(String)
  }

  /// The fate of a message.
  enum Sent {
    /// Its answer has this number.
    case number(Int32)
    /// The library can't send it to this broker, for this reason.
    case impossible(String)
  }

  /// Called within ``connect()``, ``work()`` and ``end(_:byBroker:)``.
  var onEvent: (Event) -> Void = { _ in }
  /// Whether the broker has accepted the client.
  private(set) var isConnected = false
  /// Whether a TCP connection was made.
  private(set) var hasReached = false
  /// Whether the broker has answered the request to connect.
  private(set) var hasAnswered = false
  let version: Version
  private let library: Mosquitto
  private let client: OpaquePointer
  private let address: BrokerAddress
  private var hasEnded = false
  private var budget = ReceiveBudget()
  private var begin = 0.0
  /// The first error that the library has logged: for TLS, it says more than the result.
  private var logged: String?

  /// Whether TLS is set up as the user wants it, or is not wanted.
  private var isSecured = true

  private var functions: MosquittoFunctions { library.functions }
  private var words: MQTTText { MQTTText(functions: library.functions) }

  /// In seconds.
  private static let keepAlive: Int32 = 30
  /// In bytes: the limit that is announced to the broker.
  private static let largestPacket: UInt32 = 4096

  /// - Parameters:
  ///   - address: the broker
  ///   - name: that of the client for the broker
  ///   - will: the message that the broker publishes when the client disappears
  ///   - window: the number of messages that may wait for their answer
  /// - Returns: nil if there is no memory for it
  init?(
    _ library: Mosquitto, _ address: BrokerAddress, _ security: BrokerSecurity, _ version: Version,
    name: String, will: Message, window: Int
  ) {
    self.library = library
    self.address = address
    self.version = version
    guard let client = library.functions.make(name, true, nil) else { return nil }
    self.client = client
    _ = functions.intOption(
      client, MosquittoNumber.protocolVersion,
      version == .five ? MosquittoNumber.version5 : MosquittoNumber.version311)
    _ = functions.willSet(client, will.topic, Int32(will.payload.count), will.payload, 1, will.isRetained)
    if let user = address.user { _ = functions.usernamePwSet(client, user, address.password) }
    if address.usesTLS { secure(security) }
    _ = functions.maxInflightMessagesSet(client, UInt32(window))
    _ = functions.intOption(client, MosquittoNumber.receiveMaximum, 1)
    setCallbacks()
    functions.userDataSet(client, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    functions.destroy(client)
  }

  private func secure(_ security: BrokerSecurity) {
    if security.authorities == nil {
      _ = functions.intOption(client, MosquittoNumber.usesCertificatesOfSystem, 1)
    }
    guard security.authorities != nil || security.certificate != nil else { return }
    // The library wants authorities with each certificate. The callback gives no password, so that the library does
    // not ask for one on the terminal.
    let folder = security.authorities == nil ? BrokerSecurity.systemFolder : nil
    let code = functions.tlsSet(client, security.authorities, folder, security.certificate, security.key) {
      _, _, _, _ in 0
    }
    isSecured = code == MosquittoNumber.success
  }

  private func setCallbacks() {
    functions.connectV5CallbackSet(client) { _, owner, code, _, _ in
      BrokerConnection.of(owner)?.welcomed(ReasonCode(number: code))
    }
    functions.disconnectV5CallbackSet(client) { _, owner, code, _ in BrokerConnection.of(owner)?.lost(code) }
    functions.publishV5CallbackSet(client) { _, owner, number, code, _ in
      BrokerConnection.of(owner)?.answered(.answered(number, ReasonCode(number: code)))
    }
    functions.subscribeCallbackSet(client) { _, owner, number, _, _ in
      BrokerConnection.of(owner)?.answered(.subscribed(number))
    }
    functions.messageCallbackSet(client) { _, owner, message in
      if let message { BrokerConnection.of(owner)?.heard(message) }
    }
    functions.logCallbackSet(client) { _, owner, level, text in
      guard level == MosquittoNumber.isError, let text else { return }
      BrokerConnection.of(owner)?.note(String(cString: text))
    }
  }

  private static func of(_ owner: UnsafeMutableRawPointer?) -> BrokerConnection? {
    owner.map { Unmanaged<BrokerConnection>.fromOpaque($0).takeUnretainedValue() }
  }

  // MARK: Callbacks of the library

  private func welcomed(_ code: ReasonCode) {
    hasAnswered = true
    switch code.connectOutcome {
    case .accepted:
      isConnected = true
      onEvent(.connected)
    case .otherVersion: finish(version == .five ? .otherVersion : .refused(text(of: code)))
    case .refused: finish(.refused(text(of: code)))
    case .later: finish(.lost(text(of: code), byBroker: false))
    }
  }

  private func answered(_ event: Event) {
    budget.acknowledge()
    onEvent(event)
  }

  private func heard(_ message: UnsafeRawPointer) {
    typealias Layout = MosquittoLayout
    let length = message.load(fromByteOffset: Layout.payloadLengthOffset, as: Int32.self)
    guard
      let topic = message.load(fromByteOffset: Layout.topicOffset, as: UnsafePointer<CChar>?.self),
      length >= 0
    else { return }
    if message.load(fromByteOffset: Layout.retainOffset, as: UInt8.self) != 0 { return }
    let payload = message.load(fromByteOffset: Layout.payloadOffset, as: UnsafeRawPointer?.self)
    onEvent(
      .heard(
        topic: String(cString: topic),
        payload: Array(UnsafeRawBufferPointer(start: payload, count: payload == nil ? 0 : Int(length)))))
  }

  private func lost(_ code: Int32) {
    let number = errno
    if code == 0 { return finish(.lost("disconnected", byBroker: false)) }
    let isOfBroker =
      code >= 0x80
      ? ReasonCode(number: code).blamesMessage
      : isConnected
        && (code == MosquittoNumber.connectionLost || code == MosquittoNumber.tls
          || (code == MosquittoNumber.systemError && (number == ECONNRESET || number == EPIPE)))
    finish(.lost(reason(code, errno: number), byBroker: isOfBroker))
  }

  private func finish(_ end: End) {
    guard !hasEnded else { return }
    hasEnded = true
    isConnected = false
    onEvent(.ended(end))
  }

  private func note(_ error: String) { logged = logged ?? error }

  /// Why a call failed.
  private func reason(_ code: Int32, errno number: Int32) -> String {
    // An alert of TLS may come before the end, or be lost with it: then the library has only an error of the kernel.
    let isOfPeer =
      code == MosquittoNumber.systemError
      ? [EPROTO, ECONNRESET, EPIPE].contains(number)
      : [MosquittoNumber.connectionLost, MosquittoNumber.tls, MosquittoNumber.protocolError].contains(code)
    // The handshake of TLS is a part of connecting: the broker was reached.
    if isOfPeer, hasReached || number == EPROTO, !hasAnswered, logged == nil {
      return words.endedWithoutAnswer(port: address.port, usesTLS: address.usesTLS)
    }
    return words.reason(code, errno: number, logged: address.usesTLS ? logged : nil, port: address.port)
  }

  /// The broker's answer about a message.
  func text(of code: ReasonCode) -> String { words.text(of: code) }

  // MARK: For the owner

  /// The socket; -1 without a connection.
  var socket: Int32 { functions.socket(client) }
  var wantsToWrite: Bool { functions.wantWrite(client) }

  /// Begins to connect. Blocks until there is a TCP connection, or none can be made.
  func connect() {
    // Without its files, the library would connect without TLS.
    guard isSecured else {
      return finish(
        .lost("the files of --mqtt-ca, --mqtt-cert and --mqtt-key can't be used", byBroker: false))
    }
    errno = 0
    var properties: OpaquePointer?
    if version == .five {
      _ = functions.propertyAddInt32(&properties, MosquittoNumber.maximumPacketSize, Self.largestPacket)
    }
    let code = functions.connectBindV5(
      client, address.host, Int32(address.port), Self.keepAlive, nil, properties)
    let number = errno
    functions.propertyFreeAll(&properties)
    // The time for an answer begins now: a connection may have taken longer.
    begin = Publisher.now
    hasReached = code == MosquittoNumber.success
    if !hasReached { finish(.lost(reason(code, errno: number), byBroker: false)) }
  }

  /// Reads and writes as much as is possible now.
  func work() {
    guard socket >= 0, !hasEnded else { return }
    if let received = TCPSocket.received(socket), received > budget.limit(atAge: Publisher.now - begin) {
      return finish(
        .flooded("it has sent \(received) bytes, and halo-raw has asked for less than that"))
    }
    errno = 0
    let code = functions.loop(client, 0, 1)
    // A TLS handshake that fails does not call back.
    if code != MosquittoNumber.success { lost(code) }
  }

  /// Publishes a message: with QoS 1, or with QoS 0 if it is of the moment.
  func publish(_ message: Message) -> Sent {
    var number: Int32 = 0
    let code = functions.publish(
      client, &number, message.topic, Int32(message.payload.count), message.payload,
      message.isMomentary ? 0 : 1, message.isRetained)
    switch code {
    case MosquittoNumber.malformed, MosquittoNumber.notUTF8: return .impossible("the topic is not valid")
    case MosquittoNumber.tooLarge, MosquittoNumber.overLimit:
      return .impossible("it is larger than the broker allows")
    case MosquittoNumber.noQoS: return .impossible("the broker has no QoS 1")
    case MosquittoNumber.noRetain: return .impossible("the broker retains no messages")
    // Any other failure is one of the connection, whose end is reported.
    default: return .number(number)
    }
  }

  /// Asks for the messages of a topic, with QoS 0.
  func subscribe(_ topic: String) -> Sent {
    var number: Int32 = 0
    let code = functions.subscribe(client, &number, topic, 0)
    return code == MosquittoNumber.malformed ? .impossible("the topic is not valid") : .number(number)
  }

  /// When a silent broker is given up, in the time of ``Publisher/now``; nil if it has answered.
  ///
  /// - Parameter limit: how long it may take, in seconds
  func answerEnd(within limit: Double) -> Double? { hasReached && !hasAnswered ? begin + limit : nil }

  /// Leaves a broker that has not answered for this number of seconds.
  func endUnanswered(after limit: Double) { finish(.silent(limit)) }

  /// Ends the connection in order: the broker does not publish the last will.
  func disconnect() { _ = functions.disconnect(client) }

  /// Leaves the broker.
  func end(_ reason: String, byBroker: Bool) { finish(.lost(reason, byBroker: byBroker)) }
}
