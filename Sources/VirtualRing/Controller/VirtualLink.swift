import BluetoothCore
import HCI
import L2CAP

/// The link to a ring.
struct VirtualLink {
  let handle: ConnectionHandle
  var interval: ConnectionInterval
  /// A connection event from which the others are counted.
  var anchor: Instant
  /// The ring does not participate: the link will fail to be established.
  var isDead = false
  /// ACL packets from the host that wait for the next connection event.
  var down: [[UInt8]] = []
  /// ACL packets for the host.
  var up: [[UInt8]] = []
  let recombiner = Recombiner()
  var event: Timers.Token?
  var dataLength: UInt16 = 27
  var phys = LinkPHYs {
    $0.transmit = .le1M
    $0.receive = .le1M
  }
  /// The tasks that end with the link.
  var tokens: [Timers.Token] = []

  /// The first connection event after `now`.
  func nextEvent(after now: Instant) -> Instant {
    let step = max(1, interval.duration.wholeNanoseconds)
    return anchor + .nanoseconds((max(0, now.nanoseconds(since: anchor)) / step + 1) * step)
  }
}

extension VirtualController {
  /// The ring with this link; nil if there is none.
  func ring(_ handle: ConnectionHandle) -> RingInReach? {
    let index = Int(handle.rawValue) - Int(Self.linkHandle.rawValue)
    guard rings.indices.contains(index), rings[index].link != nil else { return nil }
    return rings[index]
  }

  /// A ring has answered: the link exists.
  func connect(_ ring: RingInReach, _ parameters: ConnectionParameters) {
    initiation = nil
    var link = VirtualLink(handle: ring.handle, interval: parameters.intervalMax, anchor: timers.now)
    link.isDead = ring.failuresLeft > 0
    ring.link = link
    sendConnectionComplete(
      .success, link.handle, ring.options.address,
      LinkParameters(
        interval: link.interval, latency: parameters.latency,
        supervisionTimeout: parameters.supervisionTimeout))
    if link.isDead {
      ring.failuresLeft -= 1
      // Six connection events without a packet (Vol 6, Part B, 4.5.2).
      afterEvents(6, of: ring) { $0.disconnect($1, reason: .connectionFailedToBeEstablished) }
    } else {
      ring.peripheral.connected(interval: link.interval, faults?.troubleOfNextLink())
      whileConnected(ring, after: .milliseconds(600)) { $0.changeDataLength(251, of: $1) }
    }
  }

  /// Forgets the link and all that waits for it; the ring advertises again.
  func closeLink(of ring: RingInReach) {
    guard let link = ring.link else { return }
    timers.cancel(link.event)
    for token in link.tokens { timers.cancel(token) }
    ring.link = nil
    ring.peripheral.disconnected()
    listen(to: ring)
  }

  /// Runs a closure later, unless the link has ended by then. The ring is not retained: its timers would refer to it.
  private func whileConnected(
    _ ring: RingInReach, after delay: Duration,
    _ action: @escaping (VirtualController, RingInReach) -> Void
  ) {
    let token = later(delay) { [weak ring] controller in
      if let ring { action(controller, ring) }
    }
    ring.link?.tokens.append(token)
  }

  /// Runs a closure at the `count`-th connection event from now.
  func afterEvents(
    _ count: Int64, of ring: RingInReach, _ action: @escaping (VirtualController, RingInReach) -> Void
  ) {
    guard let link = ring.link else { return }
    let delay = link.nextEvent(after: timers.now) - timers.now
    whileConnected(
      ring, after: delay + .nanoseconds((count - 1) * link.interval.duration.wholeNanoseconds), action)
  }

  /// Runs an action of a ring, which it never does on a dead link.
  func afterExchange(
    _ events: Int64, on handle: ConnectionHandle,
    _ action: @escaping (VirtualController, RingInReach) -> Void
  ) {
    guard let ring = ring(handle), ring.link?.isDead == false else { return }
    afterEvents(events, of: ring, action)
  }

  func changeDataLength(_ octets: UInt16, of ring: RingInReach) {
    guard let link = ring.link, link.dataLength != octets, (27...251).contains(octets) else { return }
    ring.link?.dataLength = octets
    let length = DataLength(octets: octets, time: (octets + 14) * 8)
    send(
      .leDataLengthChange(
        LEDataLengthChange {
          $0.handle = link.handle
          $0.lengths.transmit = length
          $0.lengths.receive = length
        }))
  }

  // MARK: Data

  /// Queues an ACL packet from the host: it crosses at the next connection event.
  func receiveACL(_ bytes: RawSpan) {
    guard let packet = try? ACLPacket(bytes) else {
      counters.malformedPackets += 1
      return
    }
    guard let ring = ring(packet.header.handle), packet.data.byteCount <= Int(options.aclLength) else {
      counters.rejectedACL += 1
      return
    }
    let waiting = ring.link?.down.count ?? 0
    if waiting >= Int(options.aclPackets) { counters.excessACL += 1 }
    // A host that does not count its credits must not fill the memory.
    guard waiting < 4 * Int(options.aclPackets) else { return }
    ring.link?.down.append(Array(bytes))
    awaitEvent(of: ring)
  }

  /// Cuts a frame from a ring into ACL packets; they cross at the next connection event.
  func sendUp(_ payload: RawSpan, on channel: ChannelID, of ring: RingInReach) {
    guard let link = ring.link else { return }
    var frame = ByteWriter(capacity: payload.byteCount + BasicHeader.length)
    BasicHeader.writeFrame(payload, on: channel, into: &frame)
    var offset = 0
    while offset < frame.count {
      let end = min(frame.count, offset + Int(options.aclLength))
      var writer = ByteWriter(capacity: 5 + end - offset)
      writer.write(HCIPacketType.acl.rawValue)
      ACLHeader(
        handle: link.handle, boundary: offset == 0 ? .firstFlushable : .continuing,
        dataLength: UInt16(truncatingIfNeeded: end - offset)
      ).write(into: &writer)
      writer.write(frame.span.extracting(offset..<end))
      ring.link?.up.append(writer.bytes)
      offset = end
    }
    awaitEvent(of: ring)
  }

  private func awaitEvent(of ring: RingInReach) {
    guard let link = ring.link, link.event == nil, !link.isDead else { return }
    let event = timers.schedule(at: link.nextEvent(after: timers.now)) { [weak self, weak ring] in
      if let ring { self?.connectionEvent(of: ring) }
    }
    ring.link?.event = event
  }

  /// Both ends deliver what they have queued. The ring's answers cross at the following event.
  private func connectionEvent(of ring: RingInReach) {
    guard var link = ring.link else { return }
    let down = link.down
    let up = link.up
    link.event = nil
    link.down = []
    link.up = []
    ring.link = link
    if !down.isEmpty {
      send(
        .numberOfCompletedPackets(.init([.init(handle: link.handle, count: UInt16(clamping: down.count))])))
    }
    for packet in up { send(packet) }
    for packet in down { deliver(packet, to: ring) }
  }

  private func deliver(_ bytes: [UInt8], to ring: RingInReach) {
    // An answer may have ended the link.
    guard let recombiner = ring.link?.recombiner, let packet = try? ACLPacket(bytes.span.bytes) else {
      return
    }
    recombiner.receive(
      packet.data, isStart: packet.header.boundary != .continuing
    ) { channel, payload in
      ring.peripheral.receive(channel, payload)
    }
  }
}
