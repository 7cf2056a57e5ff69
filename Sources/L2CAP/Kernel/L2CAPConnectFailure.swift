import EventLoop
import Glibc
import HCI

/// Why the kernel made no link.
public enum L2CAPConnectFailure: Error, Hashable, Sendable {
  case system(SystemError)
  /// The peer was not heard in time.
  case deadline
  case cancelled

  /// What is to be done about it.
  public enum Verdict: Hashable, Sendable {
    /// It may work in a moment: an old link that is being ended, a link that was lost before its first packet.
    case retry(KernelError.Reason)
    /// The peer was not heard. Only the caller's deadline ends that.
    case notHeard
    case failed(KernelError.Reason)
  }

  /// Judges what `connect` on channel 4 failed with. The kernel translates the controller's error codes into these
  /// (its `bt_to_errno`), and those that it has no number for into ENOSYS; 0x3E, which common radios give for each
  /// second attempt, is one of them.
  static func verdict(_ error: SystemError) -> Verdict {
    switch error.errno {
    case EBUSY: .retry(.deviceInUse)
    case ENOSYS, ECONNRESET, ECONNABORTED, ENOTCONN, EALREADY, EAGAIN: .retry(.connectionEnded)
    case ETIMEDOUT, EHOSTDOWN, EINPROGRESS: .notHeard
    case ECONNREFUSED: .failed(.refused)
    case EHOSTUNREACH, ENETDOWN: .failed(.adapterDown(nil))
    case ENODEV: .failed(.adapterRemoved)
    case EACCES, EPERM: .failed(.missing(.netRaw))
    case EAFNOSUPPORT, EPROTONOSUPPORT: .failed(.noBluetooth)
    default: .failed(.system(error))
    }
  }
}

extension L2CAPConnectFailure {
  /// See ``Verdict``; nil if somebody has given up.
  public var verdict: Verdict? {
    switch self {
    case .system(let error): Self.verdict(error)
    case .deadline: .notHeard
    case .cancelled: nil
    }
  }
}
