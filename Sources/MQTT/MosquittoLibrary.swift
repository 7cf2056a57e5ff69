import Glibc
import SystemCalls

/// libmosquitto, which is loaded when it is needed: a program that links it starts later, and fails to start where it
/// is missing.
package struct Mosquitto: Sendable {
  let functions: MosquittoFunctions

  /// The library, loaded at the first use, and kept until the end of the process; nil if it is not installed.
  package static let shared: Mosquitto? = {
    guard let library = LoadedLibrary("libmosquitto.so.1"), let functions = MosquittoFunctions(library) else {
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

  /// - Returns: nil if the library lacks a function
  init?(_ library: LoadedLibrary) {
    func find<Function>(_ name: String) -> Function? { library.function("mosquitto_\(name)") }
    guard
      let libInit: @convention(c) () -> Int32 = find("lib_init"),
      let make: @convention(c) (UnsafePointer<CChar>?, Bool, UnsafeMutableRawPointer?) -> OpaquePointer? =
        find("new"),
      let destroy: @convention(c) (OpaquePointer?) -> Void = find("destroy"),
      let willSet:
        @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int32, UnsafeRawPointer?, Int32, Bool) -> Int32
        = find("will_set"),
      let usernamePwSet:
        @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Int32 = find(
          "username_pw_set"),
      let intOption: @convention(c) (OpaquePointer?, UInt32, Int32) -> Int32 = find("int_option"),
      let userDataSet: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void = find(
        "user_data_set"),
      let connect: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int32, Int32) -> Int32 = find(
        "connect"),
      let reconnect: @convention(c) (OpaquePointer?) -> Int32 = find("reconnect"),
      let disconnect: @convention(c) (OpaquePointer?) -> Int32 = find("disconnect"),
      let publish:
        @convention(c) (
          OpaquePointer?, UnsafeMutablePointer<Int32>?, UnsafePointer<CChar>?, Int32, UnsafeRawPointer?,
          Int32, Bool
        ) -> Int32 = find("publish"),
      let loop: @convention(c) (OpaquePointer?, Int32, Int32) -> Int32 = find("loop"),
      let socket: @convention(c) (OpaquePointer?) -> Int32 = find("socket"),
      let wantWrite: @convention(c) (OpaquePointer?) -> Bool = find("want_write"),
      let maxInflightMessagesSet: @convention(c) (OpaquePointer?, UInt32) -> Int32 = find(
        "max_inflight_messages_set"),
      let connectCallbackSet: @convention(c) (OpaquePointer?, NumberCallback?) -> Void = find(
        "connect_callback_set"),
      let disconnectCallbackSet: @convention(c) (OpaquePointer?, NumberCallback?) -> Void = find(
        "disconnect_callback_set"),
      let publishCallbackSet: @convention(c) (OpaquePointer?, NumberCallback?) -> Void = find(
        "publish_callback_set"),
      let logCallbackSet: @convention(c) (OpaquePointer?, TextCallback?) -> Void = find("log_callback_set"),
      let strerror: @convention(c) (Int32) -> UnsafePointer<CChar>? = find("strerror"),
      let connackString: @convention(c) (Int32) -> UnsafePointer<CChar>? = find("connack_string")
    else { return nil }
    self.libInit = libInit
    self.make = make
    self.destroy = destroy
    self.willSet = willSet
    self.usernamePwSet = usernamePwSet
    self.intOption = intOption
    self.userDataSet = userDataSet
    self.connect = connect
    self.reconnect = reconnect
    self.disconnect = disconnect
    self.publish = publish
    self.loop = loop
    self.socket = socket
    self.wantWrite = wantWrite
    self.maxInflightMessagesSet = maxInflightMessagesSet
    self.connectCallbackSet = connectCallbackSet
    self.disconnectCallbackSet = disconnectCallbackSet
    self.publishCallbackSet = publishCallbackSet
    self.logCallbackSet = logCallbackSet
    self.strerror = strerror
    self.connackString = connackString
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
