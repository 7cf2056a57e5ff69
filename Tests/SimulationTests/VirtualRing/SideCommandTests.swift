import HCI
import HaloBluetoothCore
import TestSupport
import Testing
import HaloSimulation

/// The commands by which hosts bring an adapter up.
@Suite struct SideCommandTests {
  private func answer(_ command: String, _ host: ScriptedHost) -> [UInt8]? {
    let seen = host.packets.count
    host.transmit(hex(command))
    host.run(.milliseconds(1))
    return host.packets.count == seen + 1 ? host.packets[seen] : nil
  }

  @Test func eachIsAnsweredToTheByte() {
    let host = ScriptedHost()
    let dialogue: [(String, String)] = [
      // Sizes and constants.
      ("01 0f20 00", "04 0e 05 01 0f20 00 08"), ("01 0720 00", "04 0e 05 01 0720 00 00"),
      ("01 1c20 00", "04 0e 0c 01 1c20 00 ffffffffff030000"), ("01 2a20 00", "04 0e 05 01 2a20 00 08"),
      ("01 3a20 00", "04 0e 06 01 3a20 00 7206"), ("01 3b20 00", "04 0e 05 01 3b20 00 04"),
      // What is written can be read.
      ("01 2320 00", "04 0e 08 01 2320 00 1b004801"), ("01 2420 04 fb004808", "04 0e 04 01 2420 00"),
      ("01 2320 00", "04 0e 08 01 2320 00 fb004808"),
      // Advertising goes nowhere, but is possible.
      ("01 3120 03 000303", "04 0e 04 01 3120 00"),
      (
        "01 3620 19 00 1300 a00000 a00000 07 00 00 000000000000 00 7f 01 00 01 00 00",
        "04 0e 05 01 3620 00 00"
      ),
      ("01 3820 04 00 03 01 00", "04 0e 04 01 3820 00"),
      // From here on the other family is out.
      ("01 0820 20 " + String(repeating: "00", count: 32), "04 0e 04 01 0820 0c"),
      // These commands are about links only.
      ("01 1520 02 4000", "04 0e 04 01 1520 02"), ("01 2d0c 03 4000 00", "04 0e 04 01 2d0c 02"),
      // Wrong lengths.
      ("01 0f20 01 00", "04 0e 04 01 0f20 12"), ("01 3120 02 0003", "04 0e 04 01 3120 12"),
      // A controller for LE alone knows no commands of BR/EDR: Read Local Name, Delete Stored Link Key.
      ("01 140c 00", "04 0f 04 01 01 140c"), ("01 120c 07 00000000000001", "04 0f 04 01 01 120c"),
    ]
    for (command, expected) in dialogue {
      #expect(answer(command, host) == hex(expected), "\(command)")
    }
  }

  @Test func linkQuestionsAreAnsweredForTheLink() {
    let host = ScriptedHost()
    #expect(host.connect())
    let seen = host.packets.count
    host.transmit(hex("01 1520 02 4000"))
    host.transmit(hex("01 2d0c 03 4000 00"))
    host.run(.milliseconds(1))
    #expect(host.packets[seen...].contains(hex("04 0e 0b 01 1520 00 4000 ffffffff1f")))
    #expect(host.packets[seen...].contains(hex("04 0e 07 01 2d0c 00 4000 00")))
  }

  @Test func theResolvingListHasASize() {
    let host = ScriptedHost()
    func add(_ number: Int) -> [UInt8]? {
      let address = "0\(number)0000000000"
      return answer("01 2720 27 00 \(address)" + String(repeating: "11", count: 32), host)
    }
    for number in 0..<8 { #expect(add(number) == hex("04 0e 04 01 2720 00")) }
    #expect(add(3) == hex("04 0e 04 01 2720 12"), "it is there already")
    #expect(add(8) == hex("04 0e 04 01 2720 07"), "no room")
    #expect(answer("01 2820 07 00 030000000000", host) == hex("04 0e 04 01 2820 00"))
    #expect(answer("01 2820 07 00 030000000000", host) == hex("04 0e 04 01 2820 02"))
    #expect(add(8) == hex("04 0e 04 01 2720 00"))
    #expect(answer("01 2920 00", host) == hex("04 0e 04 01 2920 00"))
    #expect(add(8) == hex("04 0e 04 01 2720 00"))
  }

  @Test func randomNumbersDifferAndAreTheSameInEachRun() throws {
    let host = ScriptedHost()
    let first = try #require(answer("01 1820 00", host))
    let second = try #require(answer("01 1820 00", host))
    #expect(first.count == 15 && first != second)
    #expect(answer("01 1820 00", ScriptedHost()) == first)
  }

  @Test func bluetooth4ControllerRejectsLaterCommands() throws {
    var options = VirtualRingOptions()
    options.bluetooth5 = false
    let host = ScriptedHost(options)
    for command in ["01 3b20 00", "01 2a20 00", "01 3120 03 000303"] {
      #expect(answer(command, host)?.prefix(5) == hex("04 0f 04 01 01")[...])
    }
    let old = try #require(host.complete(ReadLocalSupportedCommands()))
    let new = try #require(ScriptedHost().complete(ReadLocalSupportedCommands()))
    // LE Read Filter Accept List Size; LE Read Number of Supported Advertising Sets.
    #expect(old[1 + 26] & 0x40 != 0 && old[1 + 36] & 0x80 == 0)
    #expect(new[1 + 26] & 0x40 != 0 && new[1 + 36] & 0x80 != 0)
    // LE Extended Advertising: bit 12.
    #expect(host.complete(LEReadLocalSupportedFeatures()) == hex("00 3f00000000000000"))
    #expect(ScriptedHost().complete(LEReadLocalSupportedFeatures()) == hex("00 3f11000000000000"))
  }

  @Test func damagedCommandsAreSurvived() {
    let host = ScriptedHost()
    for command in [
      "01 2720 27 00 010000000000 \(String(repeating: "11", count: 32))", "01 2820 07 00 010000000000",
      "01 1520 02 4000", "01 2d0c 03 4000 00", "01 3920 02 01 00", "01 3720 04 00 03 01 00",
    ] {
      checkDecoderIsTotal(hex(command)) { damaged in
        host.transmit(damaged)
        host.run(.milliseconds(1))
      }
      #expect(host.complete(Reset()) == [0], "\(command)")
    }
  }
}

/// Scanning and connecting by the accept list, as the kernel does it.
@Suite struct AcceptListTests {
  private func host(with address: BluetoothAddress?) -> ScriptedHost {
    let host = ScriptedHost()
    host.prepare()
    _ = host.complete(LEClearFilterAcceptList())
    if let address { _ = host.complete(LEAddDeviceToFilterAcceptList { $0.address = address }) }
    return host
  }

  private func scan(_ host: ScriptedHost) {
    _ = host.complete(
      LESetScanParameters {
        $0.scan.type = .passive
        $0.scan.interval = ScanInterval(rawValue: 96)
        $0.scan.window = ScanInterval(rawValue: 48)
        $0.filterPolicy = .filterAcceptList
      })
    _ = host.complete(LESetScanEnable(isEnabled: true, filtersDuplicates: true))
    host.run(.seconds(1))
  }

  @Test func acceptListFiltersAdvertisements() {
    let ring = VirtualRingOptions().address
    let listed = host(with: ring)
    scan(listed)
    #expect(listed.reports.map(\.address) == [ring])
    // The same number, but of another type, is another device.
    for other in [nil, BluetoothAddress(0x3035_3841_BEEF, .random)] {
      let host = host(with: other)
      scan(host)
      #expect(host.reports.isEmpty)
    }
  }

  @Test func acceptListIsImmutableWhileInUse() {
    let address = VirtualRingOptions().address
    let host = host(with: address)
    scan(host)
    let disallowed = [HCIErrorCode.commandDisallowed.rawValue]
    #expect(host.complete(LEClearFilterAcceptList()) == disallowed)
    #expect(host.complete(LEAddDeviceToFilterAcceptList { $0.address = address }) == disallowed)
    #expect(host.complete(LERemoveDeviceFromFilterAcceptList { $0.address = address }) == disallowed)
    #expect(host.complete(LESetScanEnable(isEnabled: false)) == [0])
    #expect(host.complete(LERemoveDeviceFromFilterAcceptList { $0.address = address }) == [0])
    var creation = ScriptedHost.creation(BluetoothAddress(0, .public))
    creation.filterPolicy = .filterAcceptList
    #expect(host.status(creation) == .success)
    host.run(.seconds(1))
    #expect(host.handle == nil, "the list is empty")
    #expect(host.complete(LEAddDeviceToFilterAcceptList { $0.address = address }) == disallowed)
  }

  @Test func acceptListHoldsEightDevices() {
    let host = host(with: nil)
    for number in 0..<8 {
      let device = LEAddDeviceToFilterAcceptList { $0.address = BluetoothAddress(UInt64(number), .public) }
      #expect(host.complete(device) == [0])
    }
    // Who is in it already needs no more room.
    #expect(
      host.complete(LEAddDeviceToFilterAcceptList { $0.address = BluetoothAddress(7, .public) }) == [0])
    #expect(
      host.complete(LEAddDeviceToFilterAcceptList { $0.address = BluetoothAddress(8, .public) })
        == [HCIErrorCode.memoryCapacityExceeded.rawValue])
  }
}
