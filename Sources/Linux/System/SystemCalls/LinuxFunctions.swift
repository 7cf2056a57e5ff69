import Glibc

/// The functions of the C target CHaloLinux, which its header describes. They are declared here, and the header is not
/// imported: a module that imports one of C can only be imported where the C module is found, a place that SwiftPM passes only
/// to targets that depend on it. But any target may find the Swift module, and try to: `#if canImport(CoreBluetooth)`. So no
/// library of this package imports a C module of it. Tests compare these declarations with the header.
///
/// `internal import` is no way out: a module that is built without library evolution needs all modules that it imports
/// wherever it is imported. `@_implementationOnly import` needs none, but the compiler warns of it.
package enum Linux {
  @_extern(c, "halo_accept") package static func accept(_ listener: Int32) -> Int32
  @_extern(c, "halo_open_unnamed") static func openUnnamed(_ folder: UnsafePointer<CChar>) -> Int32
  @_extern(c, "halo_start_program")
  static func startProgram(
    _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>, _ process: UnsafeMutablePointer<pid_t>
  ) -> Int32
  @_extern(c, "halo_peer") static func peer(_ socket: Int32, _ user: UnsafeMutablePointer<uid_t>) -> Int32

  @_extern(c, "halo_epoll") package static func epoll() -> Int32
  @_extern(c, "halo_epoll_add")
  package static func epollAdd(_ epoll: Int32, _ descriptor: Int32, _ events: UInt32, _ mark: UInt64) -> Int32
  @_extern(c, "halo_epoll_change")
  package static func epollChange(
    _ epoll: Int32, _ descriptor: Int32, _ events: UInt32, _ mark: UInt64
  ) -> Int32
  @_extern(c, "halo_epoll_remove")
  package static func epollRemove(_ epoll: Int32, _ descriptor: Int32) -> Int32
  @_extern(c, "halo_epoll_wait")
  package static func epollWait(
    _ epoll: Int32, _ events: UnsafeMutablePointer<UInt32>, _ marks: UnsafeMutablePointer<UInt64>,
    _ milliseconds: Int32
  ) -> Int32

  @_extern(c, "halo_event") package static func event() -> Int32
  @_extern(c, "halo_semaphore") package static func semaphore() -> Int32
  @_extern(c, "halo_timer") package static func timer() -> Int32
  @_extern(c, "halo_timer_set") package static func timerSet(_ timer: Int32, _ nanoseconds: Int64) -> Int32

  @_extern(c, "halo_clock_is_synchronized") package static func isClockSynchronized() -> Int32

  @_extern(c, "halo_http_start")
  package static func httpStart(
    _ start: UnsafeMutableRawPointer, _ flags: UInt32, _ answer: UnsafeMutableRawPointer,
    _ completed: UnsafeMutableRawPointer, _ connected: UnsafeMutableRawPointer,
    _ argument: UnsafeMutableRawPointer?, _ connections: UInt32, _ seconds: UInt32, _ memory: Int
  ) -> UnsafeMutableRawPointer?
  @_extern(c, "halo_http_descriptor")
  package static func httpDescriptor(
    _ getInfo: UnsafeMutableRawPointer, _ connection: UnsafeMutableRawPointer
  ) -> Int32

  @_extern(c, "halo_has_capability") package static func hasCapability(_ capability: Int32) -> Int32
}

/// The functions of the C target CHaloLinux for privileges, declared as the functions in `LinuxFunctions.swift` are.
extension Linux {
  @_extern(c, "halo_capabilities_get")
  package static func capabilities(
    _ permitted: UnsafeMutablePointer<UInt64>, _ effective: UnsafeMutablePointer<UInt64>
  ) -> Int32
  @_extern(c, "halo_capabilities_set")
  package static func setCapabilities(_ permitted: UInt64, _ effective: UInt64) -> Int32
  @_extern(c, "halo_capabilities_keep") package static func keepCapabilities(_ keep: Int32) -> Int32
  @_extern(c, "halo_file_capabilities")
  package static func fileCapabilities(
    _ path: UnsafePointer<CChar>, _ permitted: UnsafeMutablePointer<UInt64>,
    _ effective: UnsafeMutablePointer<Int32>
  ) -> Int32

  @_extern(c, "halo_no_new_privileges") package static func noNewPrivileges() -> Int32
  @_extern(c, "halo_ambient_clear") package static func clearAmbient() -> Int32
  @_extern(c, "halo_bounding_clear") package static func clearBounding() -> Int32

  @_extern(c, "halo_become")
  package static func become(_ user: uid_t, _ group: gid_t, _ name: UnsafePointer<CChar>?) -> Int32
  @_extern(c, "halo_is") package static func isUser(_ user: uid_t, _ group: gid_t) -> Int32
  @_extern(c, "halo_thread") package static func thread() -> pid_t
}
