import ATT
import HCI
import HaloBluetoothCore
import TestSupport
import Testing
import HaloSimulation

@Suite struct LinkTests {
  @Test(arguments: [false, true])
  func theMaskDecidesTheFormOfTheEvent(isEnhanced: Bool) {
    let host = ScriptedHost()
    host.prepare(isEnhanced ? [.afterReset, .enhancedConnectionComplete] : .afterReset)
    #expect(host.status(ScriptedHost.creation(host.radio.options.address)) == .success)
    #expect(host.wait { host.handle != nil })
    #expect(host.connections.map(\.form) == [isEnhanced ? .enhanced : .plain])
    #expect(host.connections.first?.peerAddress == host.radio.options.address)
    #expect(host.connections.first?.parameters.interval == ConnectionInterval(rawValue: 12))
  }

  @Test func extendedCommandsConnectToo() {
    let host = ScriptedHost()
    host.prepare()
    let initiation = LEExtendedCreateConnection.Initiation(
      scan: .init(interval: ScanInterval(rawValue: 96), window: ScanInterval(rawValue: 48)),
      parameters: ScriptedHost.parameters)
    #expect(
      host.status(
        LEExtendedCreateConnection {
          $0.peerAddress = host.radio.options.address
          $0.le1M = initiation
        })
        == .success)
    #expect(host.wait { host.handle != nil })
  }

  @Test func connectionToAbsentPeerPendsUntilCancelled() {
    let host = ScriptedHost()
    host.prepare()
    // The same number as another kind of address is another device.
    let address = BluetoothAddress(host.radio.options.address.value, .random)
    #expect(host.status(ScriptedHost.creation(address)) == .success)
    #expect(host.status(ScriptedHost.creation(address)) == .commandDisallowed)
    host.run(.seconds(60))
    #expect(host.connections.isEmpty)
    #expect(host.complete(LECreateConnectionCancel()) == [0])
    host.run(.seconds(1))
    #expect(host.connections.map(\.status) == [.unknownConnectionIdentifier])
    #expect(
      host.complete(LECreateConnectionCancel()) == [HCIErrorCode.commandDisallowed.rawValue])
  }

  @Test func impossibleConnectionsAreRefused() {
    let host = ScriptedHost()
    host.prepare()
    var creation = ScriptedHost.creation(host.radio.options.address)
    creation.ownAddressType = .random
    #expect(host.status(creation) == .invalidCommandParameters)
    creation.ownAddressType = .public
    // A timeout shorter than the interval demands.
    creation.parameters.latency = 499
    #expect(host.status(creation) == .invalidCommandParameters)
    #expect(host.connect())
    #expect(
      host.status(ScriptedHost.creation(host.radio.options.address)) == .connectionAlreadyExists)
  }

  @Test func someConnectionsAreNeverEstablished() {
    var options = VirtualRingOptions()
    options.faults.establishFailures = 2
    let host = ScriptedHost(options)
    for attempt in 1...3 {
      #expect(host.connect())
      host.run(.seconds(1))
      #expect(host.disconnections.count == min(attempt, 2))
    }
    #expect(host.disconnections == [.connectionFailedToBeEstablished, .connectionFailedToBeEstablished])
    #expect(host.radio.isConnected)
    #expect(host.radio.peripheral.log.connections == 1)
  }

  @Test func bothEndsMayDisconnect() {
    let host = ScriptedHost()
    #expect(host.connect())
    #expect(host.status(Disconnect(handle: ConnectionHandle(rawValue: 0x40))) == .success)
    host.run(.milliseconds(50))
    #expect(host.disconnections == [.connectionTerminatedByLocalHost])
    #expect(host.status(Disconnect(handle: ConnectionHandle(rawValue: 0x40))) == .unknownConnectionIdentifier)
    #expect(host.connect())
    host.radio.disconnect(reason: .remotePowerOff)
    host.run(.milliseconds(50))
    #expect(host.disconnections.last == .remotePowerOff)
    #expect(host.radio.peripheral.log.disconnections == 2)
    // Nothing of the ring's plans for the link is left.
    #expect(host.timers.nextDeadline == nil)
  }

  @Test func resetDropsLinkWithoutEvent() {
    let host = ScriptedHost()
    #expect(host.connect())
    let count = host.packets.count
    #expect(host.complete(Reset()) == [0])
    host.run(.seconds(60))
    #expect(host.packets.count == count + 1)
    #expect(!host.radio.isConnected)
  }

  @Test func linkCommandsReportTheirResults() throws {
    let host = ScriptedHost()
    #expect(host.connect())
    let handle = try #require(host.handle)
    #expect(host.complete(ReadRSSI(handle: handle)) == hex("00 4000 c8"))
    #expect(host.status(LEReadRemoteFeatures(handle: handle)) == .success)
    host.run(.milliseconds(100))
    #expect(
      host.events.contains(
        .leReadRemoteFeaturesComplete(
          .init {
            $0.status = .success
            $0.handle = handle
            $0.features = [.encryption, .dataPacketLengthExtension]
          })))

    #expect(
      host.complete(
        LESetDataLength {
          $0.handle = handle
          $0.transmit.octets = 100
          $0.transmit.time = 912
        }) == hex("00 4000"))
    host.run(.milliseconds(100))
    #expect(
      host.events.contains(
        .leDataLengthChange(
          .init {
            $0.handle = handle
            $0.lengths.transmit.octets = 100
            $0.lengths.transmit.time = 912
            $0.lengths.receive.octets = 100
            $0.lengths.receive.time = 912
          })))
    #expect(
      host.complete(
        LESetDataLength {
          $0.handle = handle
          $0.transmit.octets = 26
          $0.transmit.time = 912
        })
        == [HCIErrorCode.invalidCommandParameters.rawValue])

    #expect(
      host.status(
        LESetPHY {
          $0.handle = handle
          $0.preferred.transmit = .le2M
          $0.preferred.receive = nil
        }) == .success)
    host.run(.milliseconds(200))
    #expect(
      host.events.contains(
        .lePHYUpdateComplete(
          .init {
            $0.status = .success
            $0.handle = handle
            $0.phys.transmit = .le2M
            $0.phys.receive = .le1M
          })))
    #expect(host.complete(LEReadPHY(handle: handle)) == hex("00 4000 02 01"))

    var parameters = ScriptedHost.parameters
    parameters.intervalMin = ConnectionInterval(rawValue: 80)
    parameters.intervalMax = ConnectionInterval(rawValue: 99)
    #expect(
      host.status(
        LEConnectionUpdate {
          $0.handle = handle
          $0.parameters = parameters
        }) == .success)
    host.run(.milliseconds(200))
    #expect(
      host.events.contains(
        .leConnectionUpdateComplete(
          .init {
            $0.status = .success
            $0.handle = handle
            $0.parameters.interval = ConnectionInterval(rawValue: 99)
            $0.parameters.latency = 0
            $0.parameters.supervisionTimeout = SupervisionTimeout(rawValue: 200)
          })))
    #expect(host.radio.peripheral.log.intervals.map(\.rawValue) == [12, 99])

    let other = ConnectionHandle(rawValue: 1)
    #expect(host.complete(ReadRSSI(handle: other)) == [HCIErrorCode.unknownConnectionIdentifier.rawValue])
    #expect(host.status(LEReadRemoteFeatures(handle: other)) == .unknownConnectionIdentifier)
  }

  @Test func creditsComeBackAndExcessIsCounted() {
    var options = VirtualRingOptions()
    options.aclPackets = 4
    let host = ScriptedHost(options)
    #expect(host.connect())
    host.run(.seconds(1))
    // 30 bytes of ATT in pieces of 4: nine packets for a controller that takes four.
    host.send(ATTWriteCommand(0x0034, value: Array(repeating: 7, count: 27)).bytes, fragment: 4)
    host.run(.milliseconds(50))
    #expect(host.radio.controller.counters.excessACL == 5)
    guard case .numberOfCompletedPackets(let credits) = host.events.last else {
      Issue.record("no credits")
      return
    }
    #expect(credits.items == [.init(handle: ConnectionHandle(rawValue: 0x40), count: 9)])
    host.handle = ConnectionHandle(rawValue: 0x41)
    host.send([0x0A, 1, 0])
    #expect(host.radio.controller.counters.rejectedACL == 1)
  }

  @Test(arguments: [27, 251] as [UInt16])
  func framesAreCutAsTheControllerNeeds(length: UInt16) {
    var options = VirtualRingOptions()
    options.aclLength = length
    let host = ScriptedHost(options)
    #expect(host.connect())
    #expect(host.ask(ATTExchangeMTURequest(clientMTU: 517)) == ATTExchangeMTUResponse(serverMTU: 247))
    guard let value = (host.ask(ATTReadRequest(0x0022)) as? ATTReadResponse)?.value else {
      Issue.record("no value")
      return
    }
    #expect(value.count == 246)
    #expect(host.largestACL == Int(length))
  }
}
