import HaloBluetoothCore

/// The links of a controller, and their data on the way to it.
///
/// Closures hold this object and its links strongly, where they end by themselves: the retains of an object that was ever
/// referred to weakly are slow.
final class LinkTable {
  /// The timeout for disconnecting a link.
  private static let disconnectDeadline = Duration.seconds(5)
  /// How long the end of a link waits until the controller has sent its packets: it drops the rest (7.1.6).
  private static let sendingDeadline = Duration.seconds(2)

  /// Called when packets were handed to the controller.
  @exclusivity(unchecked) var onSent: (() -> Void)?
  /// Called when a link is disconnected, before its own closure.
  var onLost: ((LEConnection, HCIErrorCode) -> Void)?

  let timers: Timers
  let commands: CommandQueue
  private let transmit: (RawSpan) -> Void
  @exclusivity(unchecked) private var connections = SmallMap<ConnectionHandle, LEConnection>()
  @exclusivity(unchecked) private var data = ACLQueue()
  /// The packet that is made for the controller.
  @exclusivity(unchecked) private var packet = ByteWriter(capacity: 64)
  /// The links that end when their data are sent.
  @exclusivity(unchecked) private var ending: [LEConnection] = []
  /// Expendable commands that the controller does not answer. They are not sent again.
  private(set) var unansweredCommands: Set<HCIOpcode> = []

  init(timers: Timers, commands: CommandQueue, send: @escaping (RawSpan) -> Void) {
    self.timers = timers
    self.commands = commands
    transmit = send
  }

  /// The link with a handle. On the hot path.
  subscript(handle: ConnectionHandle) -> LEConnection? { connections[handle] }

  // MARK: Start and end

  /// Sets the controller's buffers for ACL data.
  func setBuffers(capacity: Int, dataLength: Int) {
    data.reset(capacity: capacity, dataLength: dataLength)
  }

  /// The controller is reset, which ends all links.
  func controllerWasReset() {
    unansweredCommands = []
  }

  /// Notes the failure of a command of a link.
  func note(_ error: StackError, on connection: LEConnection) {
    if error.code == .commandTimedOut, let command = error.command { unansweredCommands.insert(command) }
    // The controller has no such link: its end was not reported.
    if error.refusal == .unknownConnectionIdentifier { remove(connection, .unknownConnectionIdentifier) }
  }

  func add(_ connection: LEConnection) {
    connections[connection.handle] = connection
    data.connected(connection.handle)
  }

  /// Disconnects a link, once its data are sent.
  func disconnect(_ connection: LEConnection) {
    guard !connection.isEnding else { return }
    guard data.unsent(connection.handle) > 0 else { return disconnectNow(connection) }
    connection.willEnd(unsentPackets: 0)
    ending.append(connection)
    timers.schedule(after: Self.sendingDeadline) { [self] in
      if isWaitingToEnd(connection) { disconnectNow(connection) }
    }
  }

  private func isWaitingToEnd(_ connection: LEConnection) -> Bool {
    ending.contains { $0 === connection }
  }

  private func disconnectNow(_ connection: LEConnection, _ failure: StackError? = nil) {
    // Only once: a peer that causes unlimited packets on a blocked link must not fill the queue.
    guard !connection.isEnding || isWaitingToEnd(connection) else { return }
    ending.removeAll { $0 === connection }
    connection.willEnd(unsentPackets: data.unsent(connection.handle), failure)
    commands.send(Disconnect(handle: connection.handle)) { [self] result in
      // Unknown Connection Identifier: the link is disconnected already, and the event is pending or was lost.
      if case .failure(let error) = result, error.refusal == .unknownConnectionIdentifier {
        remove(connection, .connectionTerminatedByLocalHost)
      }
    }
    timers.schedule(after: Self.disconnectDeadline) { [self] in
      guard connections[connection.handle] === connection else { return }
      remove(connection, .connectionTerminatedByLocalHost)
    }
  }

  /// Disconnects a link that does not work.
  func drop(_ handle: ConnectionHandle, _ error: StackError) {
    if let connection = connections[handle] { disconnectNow(connection, error) }
  }

  var isEmpty: Bool { connections.values.isEmpty }

  /// The links that are not being ended.
  var all: [LEConnection] { connections.values.filter { !$0.isEnding } }

  func hasLink(to peer: BluetoothAddress) -> Bool {
    connections.values.contains { $0.peer.value == peer.value }
  }

  func receive(_ event: DisconnectionComplete) {
    guard event.status == .success else { return }
    remove(event.handle, event.reason)
  }

  /// A link is disconnected. Does nothing if there is none.
  func remove(_ handle: ConnectionHandle, _ reason: HCIErrorCode) {
    if let connection = connections[handle] { remove(connection, reason) }
  }

  private func remove(_ connection: LEConnection, _ reason: HCIErrorCode) {
    guard connections[connection.handle] === connection else { return }
    connections[connection.handle] = nil
    ending.removeAll { $0 === connection }
    data.disconnected(connection.handle)
    finish(connection, reason)
    pump()
    announceRoom()
  }

  /// The controller has failed: all links are disconnected.
  func removeAll(_ reason: HCIErrorCode, _ error: StackError) {
    let lost = connections.values.sorted { $0.handle.rawValue < $1.handle.rawValue }
    connections = SmallMap()
    ending = []
    data.reset(capacity: 0, dataLength: data.dataLength)
    for connection in lost { finish(connection, reason, error) }
  }

  private func finish(_ connection: LEConnection, _ reason: HCIErrorCode, _ failure: StackError? = nil) {
    connection.ended(reason, failure, at: timers.now) { onLost?(connection, reason) }
  }

  /// Removes all links and their closures, and calls none.
  func forget() {
    for connection in connections.values { connection.forget() }
    connections = SmallMap()
    ending = []
    onSent = nil
    onLost = nil
  }

  // MARK: Data

  /// Sends a frame in as many packets as the controller's buffers need. On the hot path.
  ///
  /// - Parameter write: writes the frame
  func send(on connection: LEConnection, _ write: (inout ByteWriter) -> Void) {
    // Packets that are sent while the link ends would delay its end.
    guard !connection.isEnding else { return }
    // The packet is moved out while it is made, as its transmission may lead to another call.
    var packet = ByteWriter()
    swap(&packet, &self.packet)
    // A frame that fits into one packet is written in its place.
    begin(&packet, ACLHeader(handle: connection.handle, boundary: .firstNonFlushable, dataLength: 0))
    write(&packet)
    let count = packet.count - Self.headerLength
    if count <= data.dataLength {
      packet.overwrite(at: Self.headerLength - 2, with: UInt16(truncatingIfNeeded: count))
      _ = submit(packet.span, on: connection)
    } else {
      sendFragments(packet.span.extracting(Self.headerLength..<packet.count), on: connection)
    }
    swap(&packet, &self.packet)
    onSent?()
  }

  private func sendFragments(_ frame: RawSpan, on connection: LEConnection) {
    var packet = ByteWriter(capacity: Self.headerLength + data.dataLength)
    var offset = 0
    while offset < frame.byteCount {
      let end = min(offset + data.dataLength, frame.byteCount)
      let header = ACLHeader(
        handle: connection.handle, boundary: offset == 0 ? .firstNonFlushable : .continuing,
        dataLength: UInt16(truncatingIfNeeded: end - offset))
      begin(&packet, header)
      packet.write(frame.extracting(offset..<end))
      guard submit(packet.span, on: connection) else { return }
      offset = end
    }
  }

  /// The H4 type byte, and the header.
  private static let headerLength = 1 + ACLHeader.length

  private func begin(_ packet: inout ByteWriter, _ header: ACLHeader) {
    packet.removeAll()
    packet.write(HCIPacketType.acl.rawValue)
    header.write(into: &packet)
  }

  /// Sends a packet, or keeps it until there is a buffer. A link that has no room for it is ended.
  ///
  /// - Returns: whether there was room
  private func submit(_ packet: RawSpan, on connection: LEConnection) -> Bool {
    switch data.admit(packet, on: connection.handle) {
    case .sent: transmit(packet)
    case .waits: break
    case .refused:
      disconnectNow(connection)
      return false
    }
    return true
  }

  /// Some of the controller's buffers are free again. On the hot path.
  func receive(_ completed: borrowing CompletedPackets) {
    completed.forEach { data.completed(Int($0.count), on: $0.handle) }
    pump()
    for connection in ending where data.unsent(connection.handle) == 0 { disconnectNow(connection) }
    announceRoom()
  }

  func hasRoom(_ connection: LEConnection) -> Bool { data.hasRoom(connection.handle) }

  /// The number of packets waiting for a controller buffer, on all links.
  var waitingPackets: Int { data.waitingCount }

  var hasPacketsInFlight: Bool { data.hasPacketsInFlight }

  /// For each link, how many packets the controller holds, and has sent.
  var packets: [ControllerWatchdog.Link] {
    data.progress.compactMap { link in
      connections[link.handle].map {
        ControllerWatchdog.Link(
          handle: link.handle, packets: link.inFlight, sent: link.sent,
          supervisionTimeout: $0.parameters.supervisionTimeout.duration)
      }
    }
  }

  private func pump() {
    var packets = PacketQueue()
    while let handle = data.takeNext(&packets) {
      transmit(packets.first)
      packets.removeFirst()
      data.return(&packets, to: handle)
    }
    onSent?()
  }

  /// The closures may send packets, which also forwards them to the controller.
  private func announceRoom() {
    for handle in data.takeDrained() { connections[handle]?.onRoom?() }
  }
}
