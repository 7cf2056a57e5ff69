import Glibc
import HaloSystem

/// libmosquitto, which is loaded when it is needed: a program that links it starts later, and fails to start where it
/// is missing.
package struct Mosquitto: Sendable {
  let functions: MosquittoFunctions

  /// The library, loaded at the first use, and kept until the end of the process.
  package static let shared = Result { () throws(LibraryError) in
    let library = try LoadedLibrary("libmosquitto.so.1")
    let functions = try MosquittoFunctions(library)
    // OPENSSL_INIT_NO_ATEXIT of openssl/crypto.h. At the end of the process a thread may still wait for a broker: OpenSSL must
    // not free memory that it uses. It is a library that libmosquitto depends on, if it was built with TLS.
    let prepare = library.function(
      "OPENSSL_init_crypto", as: (@convention(c) (UInt64, UnsafeRawPointer?) -> Int32).self)
    _ = prepare?(0x0008_0000, nil)
    _ = functions.libInit()
    return Mosquitto(functions: functions)
  }
}

/// The functions that are used, as mosquitto.h declares them. They are declared here, and the header is not imported,
/// for the reason that SystemCalls/LinuxFunctions.swift gives. Tests compare them with the header.
struct MosquittoFunctions: Sendable {
  /// Its last argument are properties of MQTT 5.
  typealias EndCallback =
    @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, Int32, OpaquePointer?) -> Void
  typealias AnswerCallback =
    @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, Int32, Int32, OpaquePointer?) -> Void
  typealias SubscriptionCallback =
    @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, Int32, Int32, UnsafePointer<Int32>?) -> Void
  typealias MessageCallback =
    @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Void
  typealias PasswordCallback =
    @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32
  typealias TextCallback =
    @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?) -> Void

  let libInit: @convention(c) () -> Int32
  let make: @convention(c) (UnsafePointer<CChar>?, Bool, UnsafeMutableRawPointer?) -> OpaquePointer?
  let destroy: @convention(c) (OpaquePointer?) -> Void
  let willSet:
    @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int32, UnsafeRawPointer?, Int32, Bool) -> Int32
  let usernamePwSet: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Int32
  let intOption: @convention(c) (OpaquePointer?, UInt32, Int32) -> Int32
  let userDataSet: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void
  let tlsSet:
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
      UnsafePointer<CChar>?, PasswordCallback?
    ) -> Int32
  let connectBindV5:
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>?, Int32, Int32, UnsafePointer<CChar>?, OpaquePointer?
    ) -> Int32
  let disconnect: @convention(c) (OpaquePointer?) -> Int32
  let publish:
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<Int32>?, UnsafePointer<CChar>?, Int32, UnsafeRawPointer?, Int32,
      Bool
    ) -> Int32
  let subscribe:
    @convention(c) (OpaquePointer?, UnsafeMutablePointer<Int32>?, UnsafePointer<CChar>?, Int32) -> Int32
  let loop: @convention(c) (OpaquePointer?, Int32, Int32) -> Int32
  let socket: @convention(c) (OpaquePointer?) -> Int32
  let wantWrite: @convention(c) (OpaquePointer?) -> Bool
  let maxInflightMessagesSet: @convention(c) (OpaquePointer?, UInt32) -> Int32
  let connectV5CallbackSet: @convention(c) (OpaquePointer?, AnswerCallback?) -> Void
  let disconnectV5CallbackSet: @convention(c) (OpaquePointer?, EndCallback?) -> Void
  let publishV5CallbackSet: @convention(c) (OpaquePointer?, AnswerCallback?) -> Void
  let subscribeCallbackSet: @convention(c) (OpaquePointer?, SubscriptionCallback?) -> Void
  let messageCallbackSet: @convention(c) (OpaquePointer?, MessageCallback?) -> Void
  let logCallbackSet: @convention(c) (OpaquePointer?, TextCallback?) -> Void
  let strerror: @convention(c) (Int32) -> UnsafePointer<CChar>?
  let connackString: @convention(c) (Int32) -> UnsafePointer<CChar>?
  let reasonString: @convention(c) (Int32) -> UnsafePointer<CChar>?
  let propertyAddInt32: @convention(c) (UnsafeMutablePointer<OpaquePointer?>?, Int32, UInt32) -> Int32
  let propertyFreeAll: @convention(c) (UnsafeMutablePointer<OpaquePointer?>?) -> Void

  init(_ library: LoadedLibrary) throws(LibraryError) {
    func find<Function>(_ name: String) throws(LibraryError) -> Function {
      try library.required("mosquitto_\(name)")
    }
    libInit = try find("lib_init")
    make = try find("new")
    destroy = try find("destroy")
    willSet = try find("will_set")
    usernamePwSet = try find("username_pw_set")
    intOption = try find("int_option")
    userDataSet = try find("user_data_set")
    tlsSet = try find("tls_set")
    connectBindV5 = try find("connect_bind_v5")
    disconnect = try find("disconnect")
    publish = try find("publish")
    subscribe = try find("subscribe")
    loop = try find("loop")
    socket = try find("socket")
    wantWrite = try find("want_write")
    maxInflightMessagesSet = try find("max_inflight_messages_set")
    connectV5CallbackSet = try find("connect_v5_callback_set")
    disconnectV5CallbackSet = try find("disconnect_v5_callback_set")
    publishV5CallbackSet = try find("publish_v5_callback_set")
    subscribeCallbackSet = try find("subscribe_callback_set")
    messageCallbackSet = try find("message_callback_set")
    logCallbackSet = try find("log_callback_set")
    strerror = try find("strerror")
    connackString = try find("connack_string")
    reasonString = try find("reason_string")
    propertyAddInt32 = try find("property_add_int32")
    propertyFreeAll = try find("property_free_all")
  }
}

/// Numbers of mosquitto.h and mqtt_protocol.h, each with its name there.
enum MosquittoNumber {
  static let success: Int32 = 0  // MOSQ_ERR_SUCCESS
  static let protocolError: Int32 = 2  // MOSQ_ERR_PROTOCOL
  static let malformed: Int32 = 3  // MOSQ_ERR_INVAL
  static let connectionLost: Int32 = 7  // MOSQ_ERR_CONN_LOST
  static let tls: Int32 = 8  // MOSQ_ERR_TLS
  static let tooLarge: Int32 = 9  // MOSQ_ERR_PAYLOAD_SIZE
  static let systemError: Int32 = 14  // MOSQ_ERR_ERRNO
  static let unknownName: Int32 = 15  // MOSQ_ERR_EAI
  static let notUTF8: Int32 = 18  // MOSQ_ERR_MALFORMED_UTF8
  static let noQoS: Int32 = 24  // MOSQ_ERR_QOS_NOT_SUPPORTED
  static let overLimit: Int32 = 25  // MOSQ_ERR_OVERSIZE_PACKET
  static let noRetain: Int32 = 28  // MOSQ_ERR_RETAIN_NOT_SUPPORTED
  static let protocolVersion: UInt32 = 1  // MOSQ_OPT_PROTOCOL_VERSION
  static let receiveMaximum: UInt32 = 4  // MOSQ_OPT_RECEIVE_MAXIMUM
  static let usesCertificatesOfSystem: UInt32 = 13  // MOSQ_OPT_TLS_USE_OS_CERTS
  static let version311: Int32 = 4  // MQTT_PROTOCOL_V311
  static let version5: Int32 = 5  // MQTT_PROTOCOL_V5
  static let maximumPacketSize: Int32 = 39  // MQTT_PROP_MAXIMUM_PACKET_SIZE
  static let isError: Int32 = 8  // MOSQ_LOG_ERR
}

/// Layouts of mosquitto.h.
enum MosquittoLayout {
  /// In struct mosquitto_message, in bytes.
  static let topicOffset = 8
  static let payloadOffset = 16
  static let payloadLengthOffset = 24
  static let retainOffset = 32
}
