import HCI
import HaloBluetoothCore
import Testing

@Suite struct CodeTests {
  @Test func opcodesHaveNames() {
    #expect(LESetScanEnable.opcode.description == "LE Set Scan Enable (0x200c)")
    #expect(Reset.opcode.description == "Reset (0x0c03)")
    #expect(ReadBDADDR.opcode.description == "Read BD_ADDR (0x1009)")
    #expect(LEExtendedCreateConnection.opcode.description == "LE Extended Create Connection (0x2043)")
    #expect(HCIOpcode(rawValue: 0xFC01).description == "Vendor Specific (0xfc01)")
    #expect(HCIOpcode(rawValue: 0x2004).description == "command 0x2004")
    #expect(HCIOpcode(group: 8, command: 0x0C) == LESetScanEnable.opcode)
  }

  @Test func errorsHaveNames() {
    #expect(HCIErrorCode.success.description == "Success (0x00)")
    #expect(
      HCIErrorCode.connectionFailedToBeEstablished.description
        == "Connection Failed to be Established / Synchronization Timeout (0x3e)")
    #expect(HCIErrorCode(rawValue: 0x46).name == "Packet Too Late")
    #expect(HCIErrorCode(rawValue: 0x47).description == "error 0x47")
    #expect(HCIErrorCode.operationCancelledByHost.name == "Operation Cancelled by Host")
    #expect(HCIErrorCode.unacceptableConnectionParameters.name == "Unacceptable Connection Parameters")
  }

  @Test func eventsHaveNames() {
    #expect(HCIEventCode.commandComplete.description == "Command Complete (0x0e)")
    #expect(HCIEventCode(rawValue: 0xF8).description == "event 0xf8")
    #expect(LESubevent.enhancedConnectionComplete.description == "LE Enhanced Connection Complete (0x0a)")
    #expect(LESubevent(rawValue: 0xF8).description == "LE event 0xf8")
  }

  @Test func featuresHaveNames() {
    let some = LEFeatures([.encryption, .llPrivacy, .connectionSubrating])
    #expect(some.names == ["LE Encryption", "LL Privacy", "Connection Subrating"])
    let phys = LEFeatures([.ping, .dataPacketLengthExtension, .phy2M, .phyCoded])
    #expect(phys.names == ["LE Ping", "LE Data Packet Length Extension", "LE 2M PHY", "LE Coded PHY"])
    // Bits 33 and 34 are one feature; 50 is none yet.
    #expect(
      LEFeatures(rawValue: 1 << 33 | 1 << 34 | 1 << 50).names == ["LE Power Control Request", "bit 50"])
    #expect(LEFeatures(rawValue: .max).names.count == 63)
  }

  @Test func derivesLEEventMaskFromSubevent() {
    #expect(EventMask.afterReset.isSuperset(of: [.disconnectionComplete, .hardwareError]))
    #expect(!EventMask.afterReset.contains(.leMeta))
    #expect(LEEventMask(subevent: .extendedAdvertisingReport) == .extendedAdvertisingReport)
    #expect(LEEventMask(subevent: .enhancedConnectionCompleteV2) == .enhancedConnectionCompleteV2)
    #expect(LEEventMask(subevent: LESubevent(rawValue: 0)).isEmpty)
    #expect(LEEventMask(subevent: LESubevent(rawValue: 0xFF)).isEmpty)
  }

  @Test func timesAreCountedInSteps() {
    #expect(ConnectionInterval(rawValue: 15).description == "18.75 ms")
    #expect(ConnectionInterval(rawValue: 6).description == "7.5 ms")
    #expect(SupervisionTimeout(rawValue: 200).description == "2000 ms")
    #expect(ScanInterval(rawValue: 1).description == "0.625 ms")
    #expect(ScanPeriod(rawValue: 2).duration == .milliseconds(2560))
    #expect(ConnectionInterval(rawValue: 15).duration == .microseconds(18_750))
  }

  @Test func timesAreHeldInTheirRange() {
    #expect(ConnectionInterval(.milliseconds(15)).rawValue == 12)
    #expect(ConnectionInterval(.microseconds(15_624)).rawValue == 12)
    #expect(ConnectionInterval(.microseconds(15_625)).rawValue == 13)
    #expect(ConnectionInterval(.zero).rawValue == 6)
    #expect(ConnectionInterval(.seconds(-5)).rawValue == 6)
    #expect(ConnectionInterval(.seconds(Int64.max)).rawValue == 0x0C80)
    #expect(SupervisionTimeout(.milliseconds(420)).rawValue == 42)
    #expect(ScanInterval(.milliseconds(60)).rawValue == 96)
    #expect(ScanDuration(.zero).rawValue == 0)
    #expect(ConnectionInterval(rawValue: 5) < ConnectionInterval(rawValue: 6))
    #expect(!ConnectionInterval(rawValue: 5).isLegal)
  }

  @Test func handlesHaveTwelveBits() {
    #expect(ConnectionHandle(rawValue: 0xF045) == ConnectionHandle(rawValue: 0x045))
    #expect(ConnectionHandle.controllerDebug.description == "0x0edc")
  }
}
