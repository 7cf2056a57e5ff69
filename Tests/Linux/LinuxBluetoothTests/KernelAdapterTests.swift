import HaloGATT
import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import Testing

@testable import HaloLinuxBluetooth

@Suite struct KernelAdapterTests {
  /// Where the controller's own reason was not seen.
  @Test(arguments: [
    (ETIMEDOUT, HCIErrorCode.connectionTimeout), (ECONNRESET, .remoteUserTerminatedConnection),
    (ECONNABORTED, .connectionTerminatedByLocalHost), (EIO, .unspecifiedError),
  ])
  func theKernelsReasonForALoss(code: Int32, reason: HCIErrorCode) {
    #expect(HCIErrorCode(losing: SystemError("recvmsg", errno: code)) == reason)
  }

  @Test func anEndInOrderHasNoReason() {
    #expect(HCIErrorCode(losing: nil) == .unspecifiedError)
  }

  @Test func throwsNotReadyBeforeStart() async {
    let adapter = await KernelAdapter(AdapterIndex(rawValue: 0))
    let error = await failure(of: adapter)
    #expect(error == .notReady)
  }

  @BluetoothActor private func failure(of adapter: KernelAdapter) -> StackError? {
    var outcome: StackError?
    let request = ConnectionRequest(peer: .init(0xC011_2233_A1B2, .random))
    _ = adapter.connect(request) { result in
      if case .failure(let error) = result { outcome = error }
    }
    return outcome
  }
}
