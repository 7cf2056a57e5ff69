import Glibc

/// A system call that failed: which one, and what the kernel said.
public struct SystemError: Error, Hashable, Sendable {
  /// The name of the call: `"connect"`.
  public var call: String
  /// The kernel's error number.
  public var errno: Int32

  public init(_ call: String, errno: Int32) {
    self.call = call
    self.errno = errno
  }

  /// The error of a call that has just failed.
  public static func last(_ call: String) -> SystemError {
    SystemError(call, errno: Glibc.errno)
  }

  /// What the kernel said, in words: `connection refused`.
  public var reason: String { String(cString: strerror(errno)).lowercased() }
}

extension SystemError: CustomStringConvertible {
  public var description: String {
    "\(call): \(reason)"
  }
}

/// Makes a system call again for as long as a signal interrupts it. A negative result is thrown as the error
/// that it stands for.
@discardableResult
public func retryingInterrupts<Result: SignedInteger>(
  _ name: String, _ call: () -> Result
) throws(SystemError) -> Result {
  while true {
    let result = call()
    if result >= 0 { return result }
    if errno != EINTR { throw .last(name) }
  }
}
