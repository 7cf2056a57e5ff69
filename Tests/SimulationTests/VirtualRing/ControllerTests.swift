import HCI
import HaloBluetoothCore
import TestSupport
import Testing
import HaloSimulation

@Suite struct ControllerTests {
  @Test func firstCommandsAreAnsweredToTheByte() {
    let host = ScriptedHost()
    let dialogue: [(String, String)] = [
      ("01 030c 00", "04 0e 04 01 030c 00"),
      ("01 0110 00", "04 0e 0c 01 0110 00 09 0100 09 ffff 0100"),
      ("01 0910 00", "04 0e 0a 01 0910 00 1371da7d1a00"),
      ("01 0220 00", "04 0e 07 01 0220 00 fb00 08"),
      ("01 010c 08 0000000000000020", "04 0e 04 01 010c 00"),
      // Not known, cut off, with a parameter too many.
      ("01 ff0c 00", "04 0f 04 01 01 ff0c"),
      ("01 0120 04 00000000", "04 0e 04 01 0120 12"),
      ("01 030c 01 00", "04 0e 04 01 030c 12"),
    ]
    for (command, answer) in dialogue {
      let seen = host.packets.count
      host.transmit(hex(command))
      #expect(host.packets.count == seen, "nothing is sent from within receive")
      host.run(.milliseconds(1))
      #expect(host.packets[seen...].map { $0 } == [hex(answer)], "\(command)")
    }
    #expect(host.radio.controller.counters.commands == 8)
    #expect(host.radio.controller.counters.unknownCommands == 1)
  }

  @Test func supportedCommandsDependOnTheVersion() throws {
    var options = VirtualRingOptions()
    for isNew in [true, false] {
      options.bluetooth5 = isNew
      let host = ScriptedHost(options)
      let answer = try #require(host.complete(ReadLocalSupportedCommands()))
      #expect(answer.count == 65)
      let scanBits = answer[1 + 37] & 0xE0
      #expect(scanBits == (isNew ? 0xE0 : 0))
      // What is not supported is not known.
      let scan = LESetExtendedScanEnable(isEnabled: false)
      #expect((host.complete(scan) == nil) == !isNew)
    }
  }

  @Test func commandFamiliesAreNotMixed() {
    let scan = LESetScanParameters {
      $0.scan.type = .active
      $0.scan.interval = ScanInterval(rawValue: 96)
      $0.scan.window = ScanInterval(rawValue: 48)
    }
    let extended = LESetExtendedScanParameters {
      $0.le1M = scan.scan
    }
    let host = ScriptedHost()
    #expect(host.complete(extended) == [0])
    #expect(host.complete(scan) == [HCIErrorCode.commandDisallowed.rawValue])
    #expect(host.status(ScriptedHost.creation(host.radio.options.address)) == .commandDisallowed)
    #expect(host.complete(Reset()) == [0])
    #expect(host.complete(scan) == [0])
    #expect(host.complete(extended) == [HCIErrorCode.commandDisallowed.rawValue])
  }

  @Test func maskedEventsAreNotSent() {
    let host = ScriptedHost()
    _ = host.complete(Reset())
    _ = host.complete(LESetScanEnable(isEnabled: true))
    host.run(.seconds(1))
    // After a reset LE Meta events are off.
    #expect(host.reports.isEmpty)
    _ = host.complete(SetEventMask { $0.mask = [.leMeta] })
    host.run(.seconds(1))
    #expect(!host.reports.isEmpty)
    host.radio.controller.fail(code: 7)
    host.run(.seconds(1))
    #expect(!host.events.contains(.hardwareError(HardwareError(code: 7))))
    _ = host.complete(SetEventMask { $0.mask = [.hardwareError] })
    host.radio.controller.fail(code: 7)
    host.run(.seconds(1))
    #expect(host.events.last == .hardwareError(HardwareError(code: 7)))
  }

  @Test func silentControllerSendsNoPackets() {
    var options = VirtualRingOptions()
    options.faults.staysSilent = true
    let host = ScriptedHost(options)
    host.send(Reset())
    host.run(.seconds(60))
    #expect(host.packets.isEmpty)
    #expect(host.timers.nextDeadline == nil)
  }

  @Test func anIdleControllerHasNoTimers() {
    let host = ScriptedHost()
    host.prepare()
    #expect(host.timers.nextDeadline == nil)
  }

  @Test func damagedCommandsAreSurvived() {
    let commands = [
      "01 0b20 07 01 6000 3000 00 00", "01 0c20 02 01 00", "01 0520 06 010203040506",
      "01 0d20 19 6000 3000 00 00 efbe41383530 00 0c00 0c00 0000 c800 0000 0000",
      "01 4120 08 00 00 01 01 6000 3000", "01 4220 06 01 00 0000 0000",
      "01 4320 1a 00 00 00 efbe41383530 01 6000 3000 0c00 0c00 0000 c800 0000 0000",
      "01 0604 03 4000 13", "01 1320 0e 4000 0c00 0c00 0000 c800 0000 0000", "01 1620 02 4000",
      "01 2220 06 4000 fb00 4808", "01 3220 07 4000 00 02 02 0000", "01 0514 02 4000", "01 0e20 00",
      "02 4000 0700 0300 0400 020502", "02 4020 0700 0300 0400 020502", "02 4010 0100 00",
      "04 0e 04 01 030c 00",
      "01 030c 00",
    ]
    for command in commands {
      let host = ScriptedHost()
      _ = host.connect()
      checkDecoderIsTotal(hex(command)) { damaged in
        host.transmit(damaged)
        host.run(.milliseconds(20))
      }
      host.run(.seconds(5))
      // It still works.
      #expect(host.complete(Reset()) == [0], "\(command)")
    }
  }
}
