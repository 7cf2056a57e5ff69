import HaloRaw
import Testing

/// What a program wants of a link, asked for at the beginning and later.
///
/// It is what others lack: ThomasGerstenberg/blatann 143 (MTU and PHY of a connection), hbldh/bleak 854 (PHY),
/// nativescript-community/ble 192 (MTU and LE 2M), nordicsemi/Kotlin-BLE-Library 199 (MTU), nanoframework/Home 1719,
/// noble/bleno 304 (a peripheral that asks), lolren/nrf54-arduino-core 50 (the connection interval).
@Suite struct LinkOptionsTests {
  /// Serves a lamp while `body` runs with a radio that hears it.
  private func withLamp(
    _ medium: String, _ body: @Sendable (Radio, Server) async throws -> Void
  ) async throws {
    try await withRadio(RadioSelector("virtual:air=options-\(medium)")) { here in
      try await withRadio(RadioSelector("virtual:air=options-\(medium)")) { there in
        let level = LocalCharacteristic(.batteryLevel, 81)
        try await there.serve([LocalService("180F", level)], as: "Lamp") { try await body(here, $0) }
      }
    }
  }

  @Test func appliesLinkOptionsOnConnect() async throws {
    try await withLamp("connect") { radio, _ in
      let options = LinkOptions(
        interval: .milliseconds(30) ... .milliseconds(50), latency: 4, supervisionTimeout: .seconds(5),
        phy: .le1M, dataLength: 100, mtu: 64, isRequired: true)
      let status = try await radio.connect(to: .name("Lamp"), options: options).status()
      #expect(status.mtu == 64 && status.maximumValueLength == 61)
      #expect((Duration.milliseconds(30) ... .milliseconds(50)).contains(try #require(status.interval)))
      #expect(status.latency == 4 && status.supervisionTimeout == .seconds(5))
      #expect(status.transmitPHY == .le1M && status.receivePHY == .le1M)
      #expect(status.dataLength == 100)
    }
  }

  @Test func withoutOptionsALinkIsFast() async throws {
    try await withLamp("default") { radio, _ in
      let lamp = try await radio.connect(to: .name("Lamp"))
      try await radio.clock.sleep(for: .seconds(1))
      let status = await lamp.status()
      #expect(try #require(status.interval) <= .milliseconds(15) && status.latency == 0)
      #expect(status.mtu == 517 && status.maximumValueLength == 512)
      #expect(status.transmitPHY == .le2M && status.dataLength == 251)
    }
  }

  @Test func aLinkIsChanged() async throws {
    try await withLamp("change") { radio, _ in
      let lamp = try await radio.connect(to: .name("Lamp"))
      let wanted = Duration.milliseconds(100) ... .milliseconds(200)
      let status = try await lamp.change(LinkOptions(interval: wanted, phy: .le1M, isRequired: true))
      #expect(wanted.contains(try #require(status.interval)))
      #expect(status.transmitPHY == .le1M)
    }
  }

  /// What is kept counts for what is asked for: the peripheral may be silent for ten seconds then.
  @Test func aSlowerIntervalKeepsTheLatencyAndHasATimeoutThatFits() async throws {
    try await withLamp("slower") { radio, _ in
      let lamp = try await radio.connect(to: .name("Lamp"), options: LinkOptions(latency: 4))
      let status = try await lamp.change(LinkOptions(interval: .seconds(2) ... .seconds(2)))
      #expect(status.interval == .seconds(2) && status.latency == 4)
      #expect(try #require(status.supervisionTimeout) > .seconds(20))
    }
  }

  /// The controllers of the air have no LE Coded.
  @Test func aRequiredOptionThatIsNotGrantedIsAnError() async throws {
    try await withLamp("required") { radio, _ in
      do {
        _ = try await radio.connect(to: .name("Lamp"), options: LinkOptions(phy: .leCoded, isRequired: true))
        Issue.record("it is connected")
      } catch let error as BluetoothError {
        #expect(error.code == .refused && error.description.contains("LE Coded"))
      }
      // What is only wanted is no error, and the device can be connected to.
      let lamp = try await radio.connect(to: .name("Lamp"), options: LinkOptions(phy: .leCoded))
      #expect(try await lamp.read(.batteryLevel) == 81)
    }
  }

  /// The second connection shares the link of the first one, whose MTU was agreed on.
  @Test func aSharedLinkHasTheOptionsOfItsMaker() async throws {
    try await withLamp("shared") { radio, server in
      let first = try await radio.connect(to: .name("Lamp"), options: LinkOptions(mtu: 64))
      let slow = Duration.milliseconds(400) ... .milliseconds(500)
      let second = try await radio.connect(to: .address(server.address), options: LinkOptions(interval: slow))
      #expect(await slow.contains(try #require(second.status().interval)))
      await #expect(throws: BluetoothError.self) {
        _ = try await radio.connect(
          to: .address(server.address), options: LinkOptions(mtu: 185, isRequired: true))
      }
      #expect(try await first.read(.batteryLevel) == 81)
    }
  }

  @Test func aPeripheralAsksItsCentral() async throws {
    try await withLamp("peripheral") { radio, server in
      let lamp = try await radio.connect(to: .name("Lamp"))
      for try await phone in server.connections {
        let status = try await phone.change(.forApple(interval: .milliseconds(100), latency: 2))
        #expect((Duration.milliseconds(90) ... .milliseconds(105)).contains(try #require(status.interval)))
        #expect(status.latency == 2 && status.supervisionTimeout == .seconds(6))
        break
      }
      #expect(await lamp.status().latency == 2)
    }
  }

  /// The rules as developers have them from Apple: atc1441/ATC_MiThermometer 137, h2zero/NimBLE-Arduino 909, espressif/esp-idf
  /// 2529. A peripheral that breaks one of them is refused, or waits for an answer.
  @Test(arguments: [0, 15, 20, 30, 100, 995, 2000, 10000], [0, 1, 4, 30, 499])
  func parametersForAppleKeepItsRules(_ milliseconds: Int, _ latency: Int) throws {
    let options = LinkOptions.forApple(interval: .milliseconds(milliseconds), latency: latency)
    let interval = try #require(options.interval)
    let (shortest, longest) = (interval.lowerBound, interval.upperBound)
    let events = try #require(options.latency) + 1
    let timeout = try #require(options.supervisionTimeout)
    #expect(events <= 31 && (.seconds(6) ... .seconds(18)).contains(timeout))
    #expect(shortest >= .milliseconds(15) && shortest <= .seconds(2))
    #expect(Int(shortest / .milliseconds(15)) * 15 == Int(shortest / .milliseconds(1)))
    #expect(longest >= shortest + .milliseconds(15))
    #expect(longest * events <= .seconds(2) && longest * events * 3 < timeout)
    if latency == 0, (15...1900).contains(milliseconds) {
      #expect(interval.contains(.milliseconds(milliseconds)) || milliseconds == 0)
    }
  }

  @Test(arguments: [
    LinkOptions(interval: .milliseconds(5) ... .milliseconds(20)), LinkOptions(latency: 500),
    LinkOptions(latency: -1), LinkOptions(supervisionTimeout: .seconds(40)), LinkOptions(dataLength: 26),
    LinkOptions(mtu: 22), LinkOptions(mtu: 518),
    LinkOptions(interval: .seconds(1) ... .seconds(2), latency: 3, supervisionTimeout: .seconds(16)),
    LinkOptions(interval: .seconds(4) ... .seconds(4), latency: 3),
  ])
  func numbersThatNoLinkCanHaveAreRefused(_ options: LinkOptions) async throws {
    try await withRadio("virtual:air=options-numbers") { radio in
      do {
        _ = try await radio.connect(to: .any, within: .seconds(1), options: options)
        Issue.record("it is connected")
      } catch BluetoothError.Code.invalidValue {
      }
    }
  }
}
