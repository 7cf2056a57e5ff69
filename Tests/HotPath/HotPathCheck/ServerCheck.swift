import CAllocationCounter
import GAP
import HCI
import HaloBluetoothCore
import HaloSystem
import HaloRaw
import HaloSimulation

extension HotPathCheck {
  /// The other way: a value of a program that becomes a packet for the controller, and the controller's report that the packet
  /// was sent.
  ///
  /// - Returns: whether nothing was allocated
  @BluetoothActor
  static func measureServer() async throws -> Bool {
    let medium = RadioMedium(timers: EpollLoop.shared.timers)
    let transport = CountedTransport(SimulatedTransport(medium, options(1)))
    let radio = try await Radio.start(OpenedAdapter(HCIAdapter(transport)))
    let rate = LocalCharacteristic(CharacteristicID<[UInt8]>("2A37", in: "180D"), [0, 60])
    return try await radio.serve([LocalService("180D", rate)], as: "Heart") { _ in
      let phone = try await Radio.start(OpenedAdapter(HCIAdapter(SimulatedTransport(medium, options(2)))))
      let link = try await phone.connect(to: .service("180D"), within: .seconds(10))
      let subscription = Task { for try await _ in link.values(of: rate.id) {} }
      for try await count in rate.subscriberCounts where count == 1 { break }
      await EpollLoop.shared.timers.sleep(for: .seconds(1))
      transport.takeAway()
      let value: [UInt8] = [0, 61]
      for _ in 0..<warmUp / CountedTransport.burst { try await transport.send(value, rate) }
      let before = (allocation_count(), transport.count)
      for _ in 0..<notifications / CountedTransport.burst { try await transport.send(value, rate) }
      let allocations = allocation_count() - before.0
      let isSent = transport.count - before.1 == notifications
      print("value to a packet: \(allocations) allocations for \(notifications) notifications")
      transport.giveBack()
      subscription.cancel()
      try await phone.close()
      return allocations == 0 && isSent
    }
  }

  private static func options(_ number: UInt64) -> ControllerOptions {
    var options = ControllerOptions()
    options.address = BluetoothAddress(0xC000_0000_0000 + number, .public)
    return options
  }
}

/// A transport that hides its controller while packets are counted: what the controller computes must not be.
@BluetoothActor
private final class CountedTransport: HCITransportLayer {
  /// More than the controller has buffers, so that some wait.
  static let burst = 50

  private(set) var count = 0
  let transport: any HCITransport
  private var isAway = false
  /// The packets that were not reported as sent.
  private var held: UInt16 = 0
  private var handle: UInt16 = 0

  init(_ transport: any HCITransport) { self.transport = transport }

  func takeAway() { isAway = true }
  func giveBack() { isAway = false }

  func send(_ packet: RawSpan) {
    guard isAway, packet.byte(at: 0) == HCIPacketType.acl.rawValue else { return transport.send(packet) }
    handle = UInt16(packet.byte(at: 1) ?? 0) | UInt16(packet.byte(at: 2) ?? 0) << 8
    held += 1
    count += 1
  }

  /// Notifies a value some times, and reports the packets as sent.
  func send(_ value: [UInt8], _ characteristic: LocalCharacteristic<[UInt8]>) async throws {
    for _ in 0..<Self.burst { try await characteristic.notify(value) }
    while held > 0 { reportSent() }
  }

  /// Reports all packets as sent: a Number of Completed Packets event.
  private func reportSent() {
    let event: InlineArray<8, UInt8> = [
      4, 0x13, 5, 1, UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle >> 8),
      UInt8(truncatingIfNeeded: held), UInt8(truncatingIfNeeded: held >> 8),
    ]
    held = 0
    onPacket?(event.span.bytes, Arrival(timers.now))
  }
}
