import ATT
import HCI
import HaloBluetoothCore
import L2CAP
import TestSupport
import Testing
import HaloSimulation

/// What the ring does by itself on a new link.
@Suite struct PeripheralTests {
  @Test func theRingLooksAtItsCentral() {
    let host = ScriptedHost()
    #expect(host.connect())
    host.run(.seconds(1))
    #expect(
      host.peerRequests.map(\.bytes) == [
        ATTFindByTypeValueRequest(.all, type: 0x2800, value: [0x01, 0x18]).bytes,
        ATTExchangeMTURequest(clientMTU: 247).bytes,
      ])
    #expect(host.radio.peripheral.attAnswers.count == 2)
    #expect(host.radio.peripheral.mtu == 247)
    // The link layer agreed on longer packets by then.
    #expect(host.events.contains { if case .leDataLengthChange = $0 { true } else { false } })
  }

  @Test func theRingWalksThroughAServiceThatItFinds() {
    let host = ScriptedHost()
    host.answersPeer = false
    #expect(host.connect())
    #expect(host.wait { host.peerRequests.count == 1 })
    host.send(ATTFindByTypeValueResponse([HandleRange(1, 4)]).bytes)
    #expect(host.wait { host.peerRequests.count == 2 })
    host.send(hex("01 08 0100 0a"))
    #expect(host.wait { host.peerRequests.count == 3 })
    host.send(hex("01 04 0100 0a"))
    #expect(host.wait { host.peerRequests.count == 4 })
    #expect(
      host.peerRequests.dropFirst().map(\.bytes) == [
        ATTReadByTypeRequest(HandleRange(1, 4), type: BluetoothUUID(0x2803 as UInt16)).bytes,
        ATTFindInformationRequest(HandleRange(1, 4)).bytes,
        ATTExchangeMTURequest(clientMTU: 247).bytes,
      ])
  }

  @Test func unansweredRequestsBlockTheRing() {
    let host = ScriptedHost()
    host.answersPeer = false
    #expect(host.connect())
    host.run(.seconds(40))
    #expect(host.peerRequests.count == 1)
    #expect(host.radio.peripheral.unansweredRequests == 1)
    #expect(host.radio.peripheral.mtu == 23)
    // An answer to something else is none.
    host.send(hex("03 0002"))
    host.run(.seconds(1))
    #expect(host.radio.peripheral.log.strayAnswers == 1)
  }

  @Test func theSmallerMTUWins() {
    var options = VirtualRingOptions()
    options.mtu = 100
    let host = ScriptedHost(options)
    #expect(host.connect())
    #expect(host.ask(ATTExchangeMTURequest(clientMTU: 60)) == ATTExchangeMTUResponse(serverMTU: 100))
    host.run(.seconds(1))
    #expect(host.radio.peripheral.mtu == 60)
    // Below the minimum stands for the minimum.
    #expect(host.ask(ATTExchangeMTURequest(clientMTU: 0)) == ATTExchangeMTUResponse(serverMTU: 100))
    #expect(host.radio.peripheral.mtu == 23)
  }

  @Test(arguments: [true, false])
  func theRingWantsOtherParameters(isAccepted: Bool) {
    let host = ScriptedHost()
    host.acceptsParameters = isAccepted
    #expect(host.connect())
    host.run(.seconds(60))
    #expect(
      host.signals.map(\.data) == [
        hex("1400 2800 0400 f401"), hex("5000 6400 0400 f401"), hex("5000 6400 0400 f401"),
      ])
    #expect(Set(host.signals.map(\.identifier)).count == 3)
    #expect(host.radio.peripheral.log.parameterAnswers == [isAccepted, isAccepted, isAccepted])
  }

  /// A central without the request rejects it (Vol 3, Part A, 4.1); what rejects another request is no answer.
  @Test func aRejectedRequestForParametersIsAnswered() throws {
    let host = ScriptedHost()
    host.answersPeer = false
    #expect(host.connect())
    host.run(.seconds(60))
    let identifier = try #require(host.signals.last?.identifier)
    host.send([1, identifier &+ 1, 2, 0, 0, 0], on: .leSignaling)
    host.send([1, identifier, 2, 0, 0, 0], on: .leSignaling)
    host.run(.seconds(1))
    #expect(host.radio.peripheral.log.parameterAnswers == [false])
    #expect(host.radio.peripheral.log.strayAnswers == 1)
  }

  @Test func otherChannelsAreAnsweredOrCounted() {
    let host = ScriptedHost()
    #expect(host.connect())
    host.send(hex("16 07 0400 00000000"), on: .leSignaling)
    host.send(hex("01 03 00 01 10 00 00"), on: .securityManager)
    host.send([1, 2, 3], on: ChannelID(rawValue: 0x40))
    host.run(.seconds(1))
    #expect(host.signals.contains(SignalingPacket(code: .commandReject, identifier: 7, data: [0, 0])))
    #expect(host.packets.contains(hex("02 4020 0600 0200 0600 0505")))
    #expect(host.radio.peripheral.log.unknownChannels == 1)
  }
}
