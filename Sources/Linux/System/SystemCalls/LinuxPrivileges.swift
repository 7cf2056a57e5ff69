import Glibc

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
