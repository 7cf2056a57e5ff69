import GAP
import HCI
import HaloBluetoothCore
import HaloSystem
import HaloRaw
import TestLoop
import Testing
import HaloSimulation

/// A phone that confirms no indication, as one does whose app hangs (mcginty/blew 40).
@BluetoothActor
private final class UnconfirmingTransport: HCITransportLayer {
  let transport: any HCITransport
  private static let confirmation: UInt8 = 0x1E

  init(_ transport: any HCITransport) { self.transport = transport }

  func send(_ packet: RawSpan) {
    let isData = packet.byte(at: 0) == HCIPacketType.acl.rawValue
    if !isData || packet.byte(at: 9) != Self.confirmation { transport.send(packet) }
  }
}

/// Clients that take nothing, and programs that never wait.
@BluetoothActor
@Suite(.onTheLoop) struct SlowClientTests {
  private func transport(_ number: UInt64, _ medium: RadioMedium) -> SimulatedTransport {
    var options = ControllerOptions()
    options.address = BluetoothAddress(0xC000_0000_0000 + number, .public)
    return SimulatedTransport(medium, options)
  }

  private static let id = CharacteristicID<[UInt8]>(0xFF01, in: 0xFF00)

  @Test func unconfirmedIndicationDelaysOthersByOneSecond() async throws {
    let medium = RadioMedium(timers: testTimers)
    let source = try await Radio.start(OpenedAdapter(HCIAdapter(transport(1, medium))))
    let silent = try await Radio.start(
      OpenedAdapter(HCIAdapter(UnconfirmingTransport(transport(2, medium)))))
    let awake = try await Radio.start(OpenedAdapter(HCIAdapter(transport(3, medium))))
    let value = LocalCharacteristic(Self.id, [], properties: [.indicate])
    try await source.serve([LocalService(0xFF00, value)], as: "Source") { server in
      let links = [
        try await silent.connect(to: .service(0xFF00)), try await awake.connect(to: .service(0xFF00)),
      ]
      let lost = spawn { try await links[0].values(of: Self.id, keepingNewest: 1000).first(1000) }
      let heard = spawn { try await links[1].values(of: Self.id, keepingNewest: 1000).first(200) }
      for try await count in value.subscriberCounts where count == 2 { break }
      var slowest = Duration.zero
      var isMissed = false
      for number: UInt8 in 0..<200 {
        let begin = testTimers.now
        let deliveries = try await value.notify([number])
        slowest = max(slowest, testTimers.now - begin)
        #expect(deliveries.sent + deliveries.queued >= 1)
        if let missed = deliveries.full.first {
          isMissed = true
          #expect(missed.peer.value == 0xC000_0000_0002)
        }
        await testTimers.sleep(for: .milliseconds(100))
      }
      #expect(isMissed && slowest <= .milliseconds(1100), "\(slowest)")
      #expect(try await heard.value.map(\.value) == (0..<200).map { [UInt8($0)] })
      // The client has 30 s for a confirmation.
      let end = await failure { try await lost.value }
      #expect(end?.code == .linkLost)
    }
    for radio in [source, silent, awake] { try await radio.close() }
  }

  @Test func reportsMissingSubscribersAndTruncatedValues() async throws {
    let medium = RadioMedium(timers: testTimers)
    let source = try await Radio.start(OpenedAdapter(HCIAdapter(transport(1, medium))))
    let phone = try await Radio.start(OpenedAdapter(HCIAdapter(transport(2, medium))))
    let value = LocalCharacteristic(Self.id, [])
    try await source.serve([LocalService(0xFF00, value)], as: "Source") { _ in
      #expect(try await value.notify([1]).isEmpty)
      let link = try await phone.connect(to: .service(0xFF00), options: LinkOptions(mtu: 64))
      let heard = spawn { try await link.values(of: Self.id).first(1) }
      for try await count in value.subscriberCounts where count == 1 { break }
      let deliveries = try await value.notify([UInt8](repeating: 7, count: 200))
      #expect(deliveries.sent == 1 && deliveries.cut.map(\.peer.value) == [0xC000_0000_0002])
      #expect(try await heard.value.first?.value.count == 61)
    }
    for radio in [source, phone] { try await radio.close() }
  }

  /// The time is real, as virtual time stands still while a program computes.
  @Test func aProgramThatNeverWaitsIsSeenNevertheless() async throws {
    let medium = RadioMedium(timers: EpollLoop.shared.timers)
    let source = try await Radio.start(OpenedAdapter(HCIAdapter(transport(1, medium))))
    let phone = try await Radio.start(OpenedAdapter(HCIAdapter(transport(2, medium))))
    let value = LocalCharacteristic(Self.id, [5])
    try await source.serve([LocalService(0xFF00, value)], as: "Busy") { _ in
      var isRead = false
      let read = spawn {
        defer { isRead = true }
        for _ in 0..<2 {
          let link = try await phone.connect(to: .service(0xFF00), within: .seconds(60))
          #expect(try await link.read(Self.id) == [5])
          await link.disconnect()
        }
      }
      while !isRead { try await value.notify([5]) }
      try await read.value
    }
    for radio in [source, phone] { try await radio.close() }
  }
}
