import ATT
import HCI
import HaloBluetoothCore
import L2CAP
import RingLink
import Testing
import HaloSimulation

/// The real host stack against the virtual ring, without a loop: two ends of one conversation.
@Suite struct HostStackTests {
  /// The stack from the host controller up to the ATT bearer.
  private final class Stack {
    let timers = Timers()
    private(set) var information: ControllerInformation?
    private(set) var bearer: ATTBearer?
    /// The bearers of all links.
    private(set) var bearers: [BluetoothAddress: ATTBearer] = [:]
    private(set) var links: [L2CAPLink] = []
    private(set) var reports: [AdvertisingReport] = []
    private(set) var losses: [HCIErrorCode] = []
    private(set) var failure: StackError?
    var samples: [RawSample] = []

    private(set) lazy var radio: RingRadio = RingRadio(options: options, timers: timers) {
      [unowned self] packet in
      host.receive(packet, at: Arrival(timers.now))
    }
    private(set) lazy var host: HostController = HostController(
      timers: timers, randomAddress: BluetoothAddress(0xC000_0000_0001, .random)
    ) { [unowned self] packet in
      radio.receive(packet)
    }
    private let options: VirtualRingOptions

    init(_ options: VirtualRingOptions) {
      self.options = options
      host.onReport = { [unowned self] report, _ in reports.append(report) }
      host.initialize { [unowned self] result in
        if case .success(let value) = result { information = value }
      }
      timers.advance(by: .milliseconds(100))
    }

    func connect() { connect(to: options.address) }

    func connect(to peer: BluetoothAddress) {
      _ = host.connect(ConnectionRequest(peer: peer)) { [unowned self] result in
        switch result {
        case .success(let connection): connected(connection)
        case .failure(let error): failure = error
        }
      }
      timers.advance(by: .seconds(2))
    }

    private func connected(_ connection: LEConnection) {
      let link = L2CAPLink(connection)
      let bearer = ATTBearer(timers: timers) { [weak link] in link?.send($0, on: .attribute) }
      link[.attribute] = { pdu, arrival in bearer.receive(pdu, at: arrival) }
      link.onDisconnected = { [unowned self] reason in
        losses.append(reason)
        bearer.close("\(reason)")
      }
      bearer.onNotification = { [unowned self] _, value, _ in
        if let frame = try? RingFrame(parsing: value), let sample = RawSample(frame) {
          samples.append(sample)
        }
      }
      links.append(link)
      self.bearer = bearer
      bearers[connection.peer] = bearer
    }

    func ask(_ request: any ATTPDU) -> (any ATTPDU)? {
      var answer: (any ATTPDU)?
      bearer?.request(request) { if case .success(let pdu) = $0 { answer = pdu } }
      timers.advance(by: .milliseconds(200))
      return answer
    }
  }

  @Test(arguments: [true, false])
  func fromResetToTheStream(bluetooth5: Bool) throws {
    var options = VirtualRingOptions()
    options.bluetooth5 = bluetooth5
    options.aclLength = bluetooth5 ? 251 : 27
    let stack = Stack(options)
    #expect(stack.information?.usesExtendedScan == bluetooth5)
    #expect(stack.information?.aclDataLength == Int(options.aclLength))

    stack.host.setScan(.gentle)
    stack.timers.advance(by: .seconds(1))
    #expect(stack.reports.contains { AdvertisingData($0.data).localName == "R02_BEEF" })
    stack.host.setScan(nil)

    stack.connect()
    #expect(stack.failure == nil)
    let bearer = try #require(stack.bearer)
    #expect(bearer.mtu == 247)
    #expect(stack.ask(ATTWriteRequest(0x0013, value: [1, 0])) == ATTWriteResponse())
    try bearer.writeWithoutResponse(0x0010, RawControl.start.bytes)
    stack.timers.advance(by: .seconds(60))
    #expect((4490...4510).contains(stack.samples.count))
    // The ring's wishes were granted and carried out.
    #expect(stack.radio.peripheral.log.parameterAnswers == [true, true, true])
    #expect(stack.radio.peripheral.log.intervals.map(\.rawValue) == [12, 40, 100, 100])
    #expect(stack.radio.peripheral.log.strayAnswers == 0)
    #expect(stack.radio.peripheral.unansweredRequests == 0)
    #expect(stack.radio.controller.counters.excessACL == 0)
    #expect(stack.radio.controller.counters.unknownCommands == 0)
    #expect(stack.host.counters.malformedPackets == 0)
    #expect(stack.host.counters.unknownHandlePackets == 0)

    stack.radio.disconnect()
    stack.timers.advance(by: .seconds(1))
    #expect(stack.losses == [.remoteUserTerminatedConnection])
  }

  @Test func severalRingsHaveTheirOwnLinks() throws {
    let options = try VirtualRingOptions(parsing: "rings=3,ring=2,rate=50")
    let rings = [options] + options.others
    let stack = Stack(options)
    stack.host.setScan(.gentle)
    stack.timers.advance(by: .seconds(1))
    #expect(Set(stack.reports.map(\.address)) == Set(rings.map(\.address)))

    for ring in rings.prefix(2) { stack.connect(to: ring.address) }
    #expect(stack.radio.peripherals.map(\.log.connections) == [1, 1, 0])
    let seen = stack.reports.count
    stack.timers.advance(by: .seconds(1))
    // Rings with a link do not advertise.
    #expect(Set(stack.reports.dropFirst(seen).map(\.address)) == [rings[2].address])

    for ring in rings.prefix(2) {
      let bearer = try #require(stack.bearers[ring.address])
      bearer.request(ATTWriteRequest(0x0013, value: [1, 0])) { _ in }
      stack.timers.advance(by: .milliseconds(200))
      try bearer.writeWithoutResponse(0x0010, RawControl.start.bytes)
    }
    let before = stack.samples.count
    stack.timers.advance(by: .seconds(10))
    // 25 and 50 sets of three a second.
    #expect((2200...2270).contains(stack.samples.count - before))

    // The end of one link is not that of the other.
    stack.radio.disconnect()
    stack.timers.advance(by: .seconds(1))
    #expect(stack.losses == [.remoteUserTerminatedConnection])
    #expect(stack.radio.peripherals.map(\.log.disconnections) == [1, 0, 0])
    let after = stack.samples.count
    stack.timers.advance(by: .seconds(10))
    #expect((1480...1520).contains(stack.samples.count - after))
  }

  @Test func connectionsThatDoNotHoldAreTriedAgain() {
    var options = VirtualRingOptions()
    options.faults.establishFailures = 2
    let stack = Stack(options)
    stack.connect()
    stack.timers.advance(by: .seconds(10))
    #expect(stack.bearer != nil)
    #expect(stack.losses.isEmpty)
    #expect(stack.radio.peripheral.log.connections == 1)
  }
}
