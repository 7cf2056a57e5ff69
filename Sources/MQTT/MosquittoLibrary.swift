import Glibc
import SystemCalls

/// libmosquitto, which is loaded when it is needed: a program that links it starts later, and fails to start where it
/// is missing.
package struct Mosquitto: Sendable {
  let functions: MosquittoFunctions

  /// The library, loaded at the first use, and kept until the end of the process; nil if it is not installed.
  package static let shared: Mosquitto? = {
    guard let library = LoadedLibrary("libmosquitto.so.1"), let functions = try? MosquittoFunctions(library)
    else {
      return nil
    }
    // OPENSSL_INIT_NO_ATEXIT of openssl/crypto.h. At the end of the process a thread may still wait for a broker:
    // OpenSSL must not free what it uses. It is a library that libmosquitto depends on, if it was built with TLS.
    let prepare = library.function(
      "OPENSSL_init_crypto", as: (@convention(c) (UInt64, UnsafeRawPointer?) -> Int32).self)
    _ = prepare?(0x0008_0000, nil)
    _ = functions.libInit()
    return Mosquitto(functions: functions)
  }()
}

/// The functions that are used, as mosquitto.h declares them. They are declared here, and the header is not imported,
/// for the reason that SystemCalls/LinuxFunctions.swift gives. Tests compare them with the header.
struct MosquittoFunctions: Sendable {
  typealias NumberCallback = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, Int32) -> Void
  typealias TextCallback =
    @convention(c) (
      OpaquePointer?, UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?
    ) -> Void

  let libInit: @convention(c) () -> Int32
  let make: @convention(c) (UnsafePointer<CChar>?, Bool, UnsafeMutableRawPointer?) -> OpaquePointer?
  let destroy: @convention(c) (OpaquePointer?) -> Void
  let willSet:
    @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int32, UnsafeRawPointer?, Int32, Bool) -> Int32
  let usernamePwSet: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Int32
  let intOption: @convention(c) (OpaquePointer?, UInt32, Int32) -> Int32
  let userDataSet: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void
  let connect: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int32, Int32) -> Int32
  let reconnect: @convention(c) (OpaquePointer?) -> Int32
  let disconnect: @convention(c) (OpaquePointer?) -> Int32
  let publish:
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<Int32>?, UnsafePointer<CChar>?, Int32, UnsafeRawPointer?, Int32,
      Bool
    ) -> Int32
  let loop: @convention(c) (OpaquePointer?, Int32, Int32) -> Int32
  let socket: @convention(c) (OpaquePointer?) -> Int32
  let wantWrite: @convention(c) (OpaquePointer?) -> Bool
  let maxInflightMessagesSet: @convention(c) (OpaquePointer?, UInt32) -> Int32
  let connectCallbackSet: @convention(c) (OpaquePointer?, NumberCallback?) -> Void
  let disconnectCallbackSet: @convention(c) (OpaquePointer?, NumberCallback?) -> Void
  let publishCallbackSet: @convention(c) (OpaquePointer?, NumberCallback?) -> Void
  let logCallbackSet: @convention(c) (OpaquePointer?, TextCallback?) -> Void
  let strerror: @convention(c) (Int32) -> UnsafePointer<CChar>?
  let connackString: @convention(c) (Int32) -> UnsafePointer<CChar>?

  init(_ library: LoadedLibrary) throws(MissingFunction) {
    func find<Function>(_ name: String) throws(MissingFunction) -> Function {
      try library.required("mosquitto_\(name)")
    }
    libInit = try find("lib_init")
    make = try find("new")
    destroy = try find("destroy")
    willSet = try find("will_set")
    usernamePwSet = try find("username_pw_set")
    intOption = try find("int_option")
    userDataSet = try find("user_data_set")
    connect = try find("connect")
    reconnect = try find("reconnect")
    disconnect = try find("disconnect")
    publish = try find("publish")
    loop = try find("loop")
    socket = try find("socket")
    wantWrite = try find("want_write")
    maxInflightMessagesSet = try find("max_inflight_messages_set")
    connectCallbackSet = try find("connect_callback_set")
    disconnectCallbackSet = try find("disconnect_callback_set")
    publishCallbackSet = try find("publish_callback_set")
    logCallbackSet = try find("log_callback_set")
    strerror = try find("strerror")
    connackString = try find("connack_string")
  }
}

/// Numbers of mosquitto.h, each with its name there.
enum MosquittoNumber {
  static let success: Int32 = 0  // MOSQ_ERR_SUCCESS
  static let notConnected: Int32 = 4  // MOSQ_ERR_NO_CONN
  static let connectionLost: Int32 = 7  // MOSQ_ERR_CONN_LOST
  static let tls: Int32 = 8  // MOSQ_ERR_TLS
  static let systemError: Int32 = 14  // MOSQ_ERR_ERRNO
  static let unknownName: Int32 = 15  // MOSQ_ERR_EAI
  static let usesCertificatesOfSystem: UInt32 = 13  // MOSQ_OPT_TLS_USE_OS_CERTS
  static let isError: Int32 = 8  // MOSQ_LOG_ERR
}
