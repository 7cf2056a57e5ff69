import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// Sockets to the kernel that can't be made: the error names the adapter and the reason, and no descriptor stays open.
@BluetoothActor
@Suite(.onTheLoop) struct KernelSocketFaultTests {
  private nonisolated static let codes = [EMFILE, ENFILE, ENOBUFS, ENOMEM, EIO]
  private let adapter = AdapterIndex(rawValue: 3)

  /// What `work` throws with the first socket(2) failing.
  private func failure(_ code: Int32, _ work: () throws(StackError) -> Void) -> String? {
    let script = FaultScript([.socket], fails: code)
    let result: String?
    do throws(StackError) {
      try FaultPlan.during(script) { () throws(StackError) in try work() }
      result = nil
    } catch {
      result = error.description
    }
    #expect(script.isUsedUp)
    #expect(script.openCount == 0)
    return result
  }

  @Test(arguments: codes) func reportsRawSocketFailure(_ code: Int32) {
    let error = failure(code) { () throws(StackError) in
      _ = try HCISocket<RawChannel>(adapter, filter: HCIFilter(types: [.event]))
    }
    #expect(error == "cannot open hci3: socket: \(SystemError.text(code))")
  }

  @Test(arguments: codes) func reportsSocketFailureOfPowerChange(_ code: Int32) {
    for (name, work) in [
      ("up", HCIDevices.bringUp), ("down", HCIDevices.bringDown),
    ] as [(String, (AdapterIndex) throws(StackError) -> Void)] {
      let error = failure(code) { () throws(StackError) in try work(adapter) }
      #expect(error == "cannot bring hci3 \(name): socket: \(SystemError.text(code))")
    }
  }

  /// On a socket that is bound to an adapter whose user channel is open, and only then, the question for a link fails with
  /// EBUSY (hci_sock_ioctl of net/bluetooth/hci_sock.c).
  @Test(arguments: [
    (FaultPlan.Outcome.result(0), FaultPlan.Outcome.error(EBUSY), true),
    (.result(0), .error(ENOENT), false), (.result(0), .result(0), false),
    (.error(ENODEV), .error(EBUSY), false),
  ])
  func anAdapterThatIsTakenRefusesQuestions(
    _ bind: FaultPlan.Outcome, _ control: FaultPlan.Outcome, _ isTaken: Bool
  ) throws {
    let pair = try SocketPair()
    let script = FaultScript([.socket, .bind, .control], [.result(Int(pair.ours)), bind, control])
    #expect(FaultPlan.during(script) { HCIDevices.isTaken(adapter) } == isTaken)
    #expect(script.isUsedUp)
    // The socket that was asked is closed.
    var byte: UInt8 = 0
    #expect(recv(pair.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
  }

  /// Whether an adapter is taken can't be asked then; nothing is claimed.
  @Test(arguments: codes) func assumesAdapterIsFreeWhenSocketFails(_ code: Int32) {
    let script = FaultScript([.socket], fails: code)
    let isTaken = FaultPlan.during(script) { HCIDevices.isTaken(adapter) }
    #expect(!isTaken && script.openCount == 0)
  }
}
