import Glibc
import HaloSystem

/// The functions of libmicrohttpd that are used, as microhttpd.h declares them. The library is loaded when it is needed, and
/// its header is not imported, for the reason that SystemCalls/LinuxFunctions.swift gives.
struct MicroHTTPD: Sendable {
  typealias Pointer = UnsafeMutableRawPointer
  typealias Text = UnsafePointer<CChar>
  /// The daemon's argument, the connection, the path, the method, the version, data of the body and its length, and the place
  /// of the request's argument.
  typealias AccessHandler =
    @convention(c) (
      Pointer?, OpaquePointer?, Text?, Text?, Text?, UnsafePointer<UInt8>?, UnsafeMutablePointer<Int>?,
      UnsafeMutablePointer<Pointer?>?
    ) -> Int32
  typealias CompletionHandler =
    @convention(c) (Pointer?, OpaquePointer?, UnsafeMutablePointer<Pointer?>?, Int32) -> Void
  /// The daemon's argument, the connection, the place of its argument, and whether it has ended.
  typealias ConnectionHandler =
    @convention(c) (Pointer?, OpaquePointer?, UnsafeMutablePointer<Pointer?>?, Int32) -> Void
  /// The response's argument, the number of bytes before, and a buffer with its size.
  typealias Reader = @convention(c) (Pointer?, UInt64, UnsafeMutablePointer<UInt8>?, Int) -> Int
  typealias Release = @convention(c) (Pointer?) -> Void

  /// The library, loaded at the first use, and kept until the end of the process.
  static let shared = Result { () throws(LibraryError) in
    try MicroHTTPD(LoadedLibrary("libmicrohttpd.so.12"))
  }

  /// The addresses of MHD_start_daemon and MHD_get_connection_info, which are variadic.
  nonisolated(unsafe) let startDaemon: Pointer
  nonisolated(unsafe) let connectionInfo: Pointer
  let stopDaemon: @convention(c) (OpaquePointer?) -> Void
  let addConnection: @convention(c) (OpaquePointer?, Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
  let descriptors:
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<fd_set>?, UnsafeMutablePointer<fd_set>?,
      UnsafeMutablePointer<fd_set>?, UnsafeMutablePointer<Int32>?, UInt32
    ) -> Int32
  let timeout: @convention(c) (OpaquePointer?, UnsafeMutablePointer<UInt64>?) -> Int32
  let run: @convention(c) (OpaquePointer?) -> Int32
  let suspend: @convention(c) (OpaquePointer?) -> Void
  let resume: @convention(c) (OpaquePointer?) -> Void
  let value: @convention(c) (OpaquePointer?, UInt32, Text?) -> Text?
  let responseOfBytes: @convention(c) (Int, UnsafeMutableRawPointer?, UInt32) -> OpaquePointer?
  let responseOfReader: @convention(c) (UInt64, Int, Reader, Pointer?, Release?) -> OpaquePointer?
  let addHeader: @convention(c) (OpaquePointer?, Text?, Text?) -> Int32
  let queue: @convention(c) (OpaquePointer?, UInt32, OpaquePointer?) -> Int32
  let destroyResponse: @convention(c) (OpaquePointer?) -> Void

  private init(_ library: LoadedLibrary) throws(LibraryError) {
    startDaemon = try library.variable("MHD_start_daemon")
    connectionInfo = try library.variable("MHD_get_connection_info")
    stopDaemon = try library.required("MHD_stop_daemon")
    addConnection = try library.required("MHD_add_connection")
    descriptors = try library.required("MHD_get_fdset2")
    timeout = try library.required("MHD_get_timeout")
    run = try library.required("MHD_run")
    suspend = try library.required("MHD_suspend_connection")
    resume = try library.required("MHD_resume_connection")
    value = try library.required("MHD_lookup_connection_value")
    responseOfBytes = try library.required("MHD_create_response_from_buffer")
    responseOfReader = try library.required("MHD_create_response_from_callback")
    addHeader = try library.required("MHD_add_response_header")
    queue = try library.required("MHD_queue_response")
    destroyResponse = try library.required("MHD_destroy_response")
  }

  // MARK: Constants of microhttpd.h

  static let yes: Int32 = 1
  static let no: Int32 = 0
  static let useNoListenSocket: UInt32 = 256
  static let useEpoll: UInt32 = 512
  static let allowSuspendResume: UInt32 = 8192 | 1024
  static let connectionStarted: Int32 = 0
  static let headerKind: UInt32 = 1
  static let argumentKind: UInt32 = 8
  static let mustCopy: UInt32 = 2
  static let sizeUnknown = UInt64.max
  static let endOfStream = -1
}
