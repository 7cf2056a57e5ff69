import HCI
import HaloBluetoothCore
import HaloCommandLine
import Testing

@testable import HaloCommands

/// What to do about an error stands in its message.
@Suite struct RemedyTests {
  @Test func anAdaptersErrorNamesItsRemedy() {
    let error = StackError("open hci0", .missing(.netRaw))
    #expect("\(error)" == "cannot open hci0: CAP_NET_RAW is missing")
    let failure = Failure(error)
    #expect(failure.code == .noPermission)
    #expect(failure.message.hasPrefix("\(error); run it with sudo, or "))
    #expect(failure.message.contains("sudo setcap 'cap_net_raw,cap_net_admin+ep' /"))
    #expect(
      Failure(StackError("use hci3", .adapterDown(AdapterIndex("hci3")))).message
        == "cannot use hci3: the adapter is down; bring it up with: sudo halo-raw adapters up hci3")
  }
}
