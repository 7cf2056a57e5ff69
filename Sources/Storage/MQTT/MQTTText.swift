import Glibc
import HaloSystem

/// The errors of libmosquitto and of brokers, in words.
struct MQTTText {
  let functions: MosquittoFunctions

  /// The meaning of a broker's reason code for a connection or a message.
  func text(of code: ReasonCode) -> String {
    text(code.number, code.number < 6 ? functions.connackString : functions.reasonString)
  }

  private func text(_ code: Int32, _ words: (Int32) -> UnsafePointer<CChar>?) -> String {
    let text = words(code).map { String(cString: $0) } ?? "error \(code)"
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// Why a call of the library has failed.
  ///
  /// - Parameters:
  ///   - code: its result, or the reason code of a broker
  ///   - number: the kernel's error
  ///   - logged: the library's log about TLS; nil without TLS
  ///   - port: of the broker
  func reason(_ code: Int32, errno number: Int32, logged: String?, port: Int) -> String {
    switch code {
    case MosquittoNumber.systemError where number != 0 && (logged == nil || number != EPROTO):
      SystemError.text(number)
    case MosquittoNumber.unknownName: "the name of the broker is not known"
    case 0x80...: text(of: ReasonCode(number: code))
    default:
      if let logged {
        BrokerSecurity.explanation(of: logged, port: port)
      } else {
        text(code, functions.strerror)
      }
    }
  }

  /// Why a connection may have ended before the broker has said anything.
  func endedWithoutAnswer(port: Int, usesTLS: Bool) -> String {
    "the broker has ended the connection without an answer; "
      + (usesTLS
        ? "if it wants a certificate of its clients, use --mqtt-cert and --mqtt-key"
        : "if port \(port) is for TLS, use mqtts://")
  }
}

/// A broker's answer about a connection or a message: a reason code of MQTT 5 (section 2.4), or a return code of MQTT 3.1.1
/// (section 3.2.2.3).
struct ReasonCode: Hashable, Sendable {
  let number: Int32

  /// The meaning of the code for a requested connection.
  enum ConnectOutcome {
    case accepted
    /// The broker has another version of the protocol.
    case otherVersion
    /// The broker does not want this client.
    case refused
    /// The broker may want it later.
    case later
  }

  /// The meaning of a code of CONNACK.
  var connectOutcome: ConnectOutcome {
    switch number {
    case 0: .accepted
    // MQTT 3.1.1: the version; the server is not available.
    case 1, 0x84: .otherVersion
    case 3: .later
    // The identifier of the client; user and password; not authorized; banned; the method of authentication.
    case 2, 4, 5, 0x85, 0x86, 0x87, 0x8A, 0x8C: .refused
    default: .later
    }
  }

  /// The meaning of the code for a message.
  enum PublishOutcome {
    case taken
    /// The broker will never take it.
    case refused
    /// The broker may take it later.
    case later
    /// Nothing is said about the next attempt.
    case failed
  }

  /// The meaning of a code of PUBACK.
  var publishOutcome: PublishOutcome {
    switch number {
    case 0..<0x80: .taken
    // Not authorized; the topic's name; too large; the payload's format; retained messages; QoS.
    case 0x87, 0x90, 0x95, 0x99, 0x9A, 0x9B: .refused
    // Quota exceeded.
    case 0x97: .later
    default: .failed
    }
  }

  /// Whether a code of DISCONNECT may be about a message. The others are about the broker, or about another client.
  var blamesMessage: Bool {
    switch number {
    // Busy, shutting down, keep-alive, taken over; quota, administrative action, other server, rates.
    case 0x89, 0x8B, 0x8D, 0x8E, 0x97, 0x98, 0x9C, 0x9D, 0x9F, 0xA0: false
    default: number >= 0x80
    }
  }
}
