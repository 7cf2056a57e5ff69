import Glibc
import HCI
import HaloSystem
import L2CAP
import Testing

@testable import HaloLinuxBluetooth

@Suite struct L2CAPConnectTests {
  @Test(arguments: [
    (EBUSY, L2CAPConnectFailure.Verdict.retry(.deviceInUse)), (ENOSYS, .retry(.connectionEnded)),
    (ECONNRESET, .retry(.connectionEnded)), (ENOTCONN, .retry(.connectionEnded)), (ETIMEDOUT, .notHeard),
    (EHOSTDOWN, .notHeard), (EINPROGRESS, .notHeard), (ECONNREFUSED, .failed(.connectionRefused)),
    (EHOSTUNREACH, .failed(.adapterDown(nil))), (ENODEV, .failed(.adapterRemoved)),
    (EAFNOSUPPORT, .failed(.noBluetooth)), (EINVAL, .failed(.system(SystemError("connect", errno: EINVAL)))),
  ])
  func mapsConnectErrnoToVerdict(code: Int32, verdict: L2CAPConnectFailure.Verdict) {
    #expect(L2CAPConnectFailure.system(SystemError("connect", errno: code)).verdict == verdict)
  }

  @Test func deadlineMeansPeerNotHeard() {
    #expect(L2CAPConnectFailure.deadline.verdict == .notHeard)
    #expect(L2CAPConnectFailure.cancelled.verdict == nil)
  }
}
