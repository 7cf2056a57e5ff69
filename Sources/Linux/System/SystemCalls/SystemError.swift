import Glibc

/// A failed system call: its name and the kernel's error.
@usableFromInline package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the call: `"connect"`.
  package var call: String
  /// The kernel's error number.
  package var errno: Int32

  package init(_ call: String, errno: Int32) {
    self.call = call
    self.errno = errno
  }

  /// The error of the last call.
  package static func last(_ call: String) -> SystemError {
    SystemError(call, errno: Glibc.errno)
  }

  /// The kernel's error as text: `connection refused`.
  package var reason: String { String(cString: strerror(errno)).lowercased() }

  /// The meaning of an error number, and the fix if it does not depend on the call: `no space left on device; free some
  /// space`.
  package static func text(_ errno: Int32) -> String {
    SystemError("", errno: errno).reason + (remedy(errno).map { "; " + $0 } ?? "")
  }

  /// Whether an error number means that no descriptors or no memory are left.
  package static func isExhaustion(_ errno: Int32) -> Bool { [EMFILE, ENFILE, ENOMEM].contains(errno) }

  private static func remedy(_ errno: Int32) -> String? {
    switch errno {
    case EMFILE: "raise the limit of open files (ulimit -n)"
    case ENFILE: "the whole system has too many; close other programs"
    case ENOSPC, EDQUOT: "free some space"
    case EFBIG: "raise the limit of file sizes (ulimit -f)"
    case EROFS: "choose another folder"
    case EACCES: "check the permissions of the file and its folder"
    case EIO: "check the device; the kernel's log may say more (dmesg)"
    case ENODEV: "check that the device is there"
    case ENETDOWN: "bring the adapter or network up"
    default: nil
    }
  }

  @usableFromInline package var description: String {
    "\(call): \(Self.text(errno))"
  }
}

/// Repeats a system call while a signal interrupts it. A negative result is thrown as the corresponding error.
@discardableResult
package func retryingInterrupts<Result: SignedInteger>(
  _ name: String, _ call: () -> Result
) throws(SystemError) -> Result {
  while true {
    let result = call()
    if result >= 0 { return result }
    if errno != EINTR { throw .last(name) }
  }
}
