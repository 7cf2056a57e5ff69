import Glibc
import SystemCalls

/// A client of one broker. Its session outlives connections: messages that are not acknowledged are sent again, in order,
/// when there is a connection again. For one thread, on which it calls back.
final class BrokerConnection {
  /// What happens to the connection.
  enum Event {
    case connected
    /// The broker does not want this client: the user or the password is wrong, or it is not allowed.
    case refused(String)
    /// There is no connection any more, or none could be made.
    case lost(String)
    /// The broker has the message of this number.
    case acknowledged(Int32)
  }

  /// Called within ``connect()`` and ``work()``.
  var onEvent: (Event) -> Void = { _ in }
  private let library: Mosquitto
  private let client: OpaquePointer
  private let address: BrokerAddress
  private var hasConnected = false
  /// Whether the library has called back about the loss of the connection.
  private var hasReported = false
  /// The first error that the library has logged since the attempt to connect: for TLS, it says more than the result.
  private var logged: String?

  private var functions: MosquittoFunctions { library.functions }

  /// In seconds.
  private static let keepAlive: Int32 = 30

  /// - Parameters:
  ///   - address: the broker
  ///   - name: that of the client for the broker
  ///   - will: what the broker publishes when the client disappears
  ///   - window: the number of messages that may wait for their acknowledgement
  /// - Returns: nil if there is no memory for it
  init?(_ library: Mosquitto, _ address: BrokerAddress, name: String, will: Message, window: Int) {
    self.library = library
    self.address = address
    guard let client = library.functions.make(name, false, nil) else { return nil }
    self.client = client
    let functions = library.functions
    _ = functions.willSet(client, will.topic, Int32(will.payload.count), will.payload, 1, will.isRetained)
    if let user = address.user { _ = functions.usernamePwSet(client, user, address.password) }
    if address.usesTLS { _ = functions.intOption(client, MosquittoNumber.usesCertificatesOfSystem, 1) }
    _ = functions.maxInflightMessagesSet(client, UInt32(window))
    functions.connectCallbackSet(client) { _, owner, code in BrokerConnection.of(owner)?.connected(code) }
    functions.disconnectCallbackSet(client) { _, owner, code in
      BrokerConnection.of(owner)?.lost(code)
    }
    functions.publishCallbackSet(client) { _, owner, number in
      BrokerConnection.of(owner)?.onEvent(.acknowledged(number))
    }
    functions.logCallbackSet(client) { _, owner, level, text in
      guard level == MosquittoNumber.isError, let text else { return }
      BrokerConnection.of(owner)?.note(String(cString: text))
    }
    functions.userDataSet(client, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    functions.destroy(client)
  }

  private static func of(_ owner: UnsafeMutableRawPointer?) -> BrokerConnection? {
    owner.map { Unmanaged<BrokerConnection>.fromOpaque($0).takeUnretainedValue() }
  }

  private func connected(_ code: Int32) {
    switch code {
    case 0: onEvent(.connected)
    // Server unavailable.
    case 3: onEvent(.lost(text(code, functions.connackString)))
    default: onEvent(.refused(text(code, functions.connackString)))
    }
  }

  private func lost(_ code: Int32) {
    hasReported = true
    onEvent(.lost(reason(code)))
  }

  private func text(_ code: Int32, _ words: (Int32) -> UnsafePointer<CChar>?) -> String {
    let text = words(code).map { String(cString: $0) } ?? "error \(code)"
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// Why a call failed.
  private func reason(_ code: Int32) -> String {
    let number = errno
    switch code {
    case MosquittoNumber.systemError where number != 0: return SystemError.text(number)
    case MosquittoNumber.unknownName: return "the name of the broker is not known"
    default: return (address.usesTLS ? logged : nil) ?? text(code, functions.strerror)
    }
  }

  private func note(_ error: String) { logged = logged ?? error }

  /// The socket; -1 without a connection.
  var socket: Int32 { functions.socket(client) }
  var wantsToWrite: Bool { functions.wantWrite(client) }

  /// Begins to connect. Blocks until there is a TCP connection, or none can be made.
  func connect() {
    logged = nil
    errno = 0
    let code =
      hasConnected
      ? functions.reconnect(client)
      : functions.connect(client, address.host, Int32(address.port), Self.keepAlive)
    // From now on the library knows where to.
    hasConnected = true
    if code != MosquittoNumber.success { onEvent(.lost(reason(code))) }
  }

  /// Reads and writes what can be read and written now.
  func work() {
    guard socket >= 0 else { return }
    errno = 0
    hasReported = false
    let code = functions.loop(client, 0, 1)
    // A TLS handshake that fails does not call back.
    if code != MosquittoNumber.success, !hasReported { onEvent(.lost(reason(code))) }
  }

  /// Publishes a message: with QoS 1, or with QoS 0 if it is of the moment.
  ///
  /// - Returns: the number that its acknowledgement has; nil if it can never be sent
  func publish(_ message: Message) -> Int32? {
    var number: Int32 = 0
    let code = functions.publish(
      client, &number, message.topic, Int32(message.payload.count), message.payload,
      message.isMomentary ? 0 : 1, message.isRetained)
    switch code {
    // Without a connection, the library keeps the message for the next one.
    case MosquittoNumber.success, MosquittoNumber.notConnected, MosquittoNumber.connectionLost,
      MosquittoNumber.systemError, MosquittoNumber.tls:
      return number
    default: return nil
    }
  }

  /// Ends the connection in order: the broker does not publish the last will.
  func disconnect() { _ = functions.disconnect(client) }
}
