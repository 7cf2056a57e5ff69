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
