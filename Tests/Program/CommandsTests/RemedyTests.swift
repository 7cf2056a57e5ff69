import HCI
import HaloCommandLine
import Testing

@testable import HaloCommands

/// What to do about an error stands in its message.
@Suite struct RemedyTests {
  @Test func anAdaptersErrorNamesItsRemedy() {
    let error = AdapterError("open hci0", .missing("CAP_NET_RAW"))
    #expect("\(error)" == "cannot open hci0: CAP_NET_RAW is missing")
    for failure in [Failure(error), Failure(HCIError.adapter(error))] {
      #expect(failure.code == .noPermission)
      #expect(failure.message.hasPrefix("\(error); run it with sudo, or "))
      #expect(failure.message.contains("sudo setcap 'cap_net_raw,cap_net_admin+ep' /"))
    }
    #expect(
      Failure(AdapterError("use hci3", .adapterDown(AdapterIndex("hci3")))).message
        == "cannot use hci3: the adapter is down; bring it up with: sudo halo-raw adapters up hci3")
  }
}
