import Glibc
import HaloBluetoothCore
import HaloSystem

/// Why the kernel could not connect.
package enum L2CAPConnectFailure: Error, Hashable, Sendable {
  case system(SystemError)
  /// The peer was not found in time.
  case deadline
  case cancelled

  /// How to proceed.
  package enum Verdict: Hashable, Sendable {
    /// A retry may succeed soon: an old link is being disconnected, or a link was lost before its first packet.
    case retry(StackError)
    /// The peer was not found. Continue until the caller's deadline.
    case notHeard
    case failed(StackError)
  }

  /// Evaluates the error of `connect` on channel 4. The kernel translates the controller's error codes (its
  /// `bt_to_errno`), and those without an errno into ENOSYS; 0x3E, which common radios report for every second attempt,
  /// is one of them.
  static func verdict(_ error: SystemError) -> Verdict {
    switch error.errno {
    case EBUSY: .retry(.deviceInUse)
    case ENOSYS, ECONNRESET, ECONNABORTED, ENOTCONN, EALREADY, EAGAIN: .retry(.connectionEnded)
    case ETIMEDOUT, EHOSTDOWN, EINPROGRESS: .notHeard
    case ECONNREFUSED: .failed(.connectionRefused)
    case EHOSTUNREACH, ENETDOWN: .failed(.adapterDown(nil))
    case ENODEV: .failed(.adapterRemoved)
    case EACCES, EPERM: .failed(.missing(.netRaw))
    case EAFNOSUPPORT, EPROTONOSUPPORT: .failed(.noBluetooth)
    default: .failed(.system(error))
    }
  }

  /// See ``Verdict``; nil if the attempt was cancelled.
  package var verdict: Verdict? {
    switch self {
    case .system(let error): Self.verdict(error)
    case .deadline: .notHeard
    case .cancelled: nil
    }
  }
}
