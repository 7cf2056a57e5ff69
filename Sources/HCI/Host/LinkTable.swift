import HaloBluetoothCore

/// The links of a controller, and their data on the way to it.
final class LinkTable {
  /// The timeout for disconnecting a link.
  private static let disconnectDeadline = Duration.seconds(5)
  /// How long the end of a link waits until the controller has sent what it was given: it drops the rest (7.1.6).
  private static let sendingDeadline = Duration.seconds(2)

  /// Called when packets were handed to the controller.
  var onSent: (() -> Void)?
  /// Called when a link is disconnected, before its own closure.
  var onLost: ((LEConnection, HCIErrorCode) -> Void)?

  let timers: Timers
  let commands: CommandQueue
  private let transmit: (RawSpan) -> Void
  @exclusivity(unchecked) private var connections = SmallMap<ConnectionHandle, LEConnection>()
  private var data = ACLQueue()
  /// The links that end when their data are sent.
  private var ending: [LEConnection] = []
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
  func note(_ error: HCIError, on connection: LEConnection) {
    switch error {
    case .commandTimedOut(let opcode): unansweredCommands.insert(opcode)
    // The controller has no such link: its end was not reported.
    case .commandFailed(_, .unknownConnectionIdentifier): remove(connection, .unknownConnectionIdentifier)
    default: break
    }
  }

  func add(_ connection: LEConnection) {
    connections[connection.handle] = connection
    data.connected(connection.handle)
  }

  /// Disconnects a link, once its data are sent.
  func disconnect(_ connection: LEConnection) {
    guard !connection.isEnding else { return }
    guard data.unsent(connection.handle) > 0 else { return disconnectNow(connection) }
    connection.isEnding = true
    ending.append(connection)
    timers.schedule(after: Self.sendingDeadline) { [weak self, weak connection] in
      if let self, let connection, isWaitingToEnd(connection) { disconnectNow(connection) }
    }
  }

  /// Ends the links whose data are sent.
  private func endSent() {
    for connection in ending where data.unsent(connection.handle) == 0 { disconnectNow(connection) }
  }

  private func isWaitingToEnd(_ connection: LEConnection) -> Bool {
    ending.contains { $0 === connection }
  }

  private func disconnectNow(_ connection: LEConnection) {
    // Only once: a peer that causes unlimited packets on a blocked link must not fill the queue.
    guard !connection.isEnding || isWaitingToEnd(connection) else { return }
    ending.removeAll { $0 === connection }
    connection.isEnding = true
    connection.unsentPackets = data.unsent(connection.handle)
    commands.send(Disconnect(handle: connection.handle)) { [weak self] result in
      // Unknown Connection Identifier: the link is disconnected already, and the event is pending or was lost.
      if case .failure(.commandFailed(_, .unknownConnectionIdentifier)) = result {
        self?.remove(connection, .connectionTerminatedByLocalHost)
      }
    }
    timers.schedule(after: Self.disconnectDeadline) { [weak self, weak connection] in
      guard let self, let connection, connections[connection.handle] === connection else { return }
      remove(connection, .connectionTerminatedByLocalHost)
    }
  }

  /// Disconnects a link that does not work.
  func drop(_ handle: ConnectionHandle, _ error: HCIError) {
    guard let connection = connections[handle] else { return }
    connection.failure = error
    disconnectNow(connection)
  }

  var isEmpty: Bool { connections.values.isEmpty }

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
  func removeAll(_ reason: HCIErrorCode, _ error: HCIError) {
    let lost = connections.values.sorted { $0.handle.rawValue < $1.handle.rawValue }
    connections = SmallMap()
    ending = []
    data.reset(capacity: 0, dataLength: data.dataLength)
    for connection in lost {
      connection.failure = error
      finish(connection, reason)
    }
  }

  private func finish(_ connection: LEConnection, _ reason: HCIErrorCode) {
    guard connection.isConnected else { return }
    connection.isConnected = false
    connection.unfinished = connection.procedureUnderWay
    onLost?(connection, reason)
    let onDisconnected = connection.onDisconnected
    let error = connection.failure ?? .notConnected
    connection.updates.fail(error)
    connection.phyUpdates.fail(error)
    connection.encryptions.fail(error)
    connection.forget()
    onDisconnected?(reason)
  }

  /// Removes the closures of all links, and calls none.
  func forget() {
    for connection in connections.values { connection.forget() }
  }

  // MARK: Data

  func send(_ frame: RawSpan, on connection: LEConnection) {
    // What is sent while the link ends would delay its end.
    guard !connection.isEnding else { return }
    guard data.enqueue(frame, on: connection.handle) else { return disconnectNow(connection) }
    pump()
  }

  func receive(_ event: NumberOfCompletedPackets) {
    for item in event.items { data.completed(Int(item.count), on: item.handle) }
    pump()
    endSent()
    announceRoom()
  }

  func hasRoom(_ connection: LEConnection) -> Bool { data.hasRoom(connection.handle) }

  /// The number of packets waiting for a controller buffer, on all links.
  var waitingPackets: Int { data.waitingCount }

  /// Whether the controller holds packets.
  var hasPacketsInFlight: Bool { data.hasPacketsInFlight }

  /// For each link, how many packets the controller holds, and has sent.
  var packets: [DataWatch.Link] {
    data.progress.compactMap { link in
      connections[link.handle].map {
        DataWatch.Link(
          handle: link.handle, packets: link.inFlight, sent: link.sent,
          supervisionTimeout: $0.parameters.supervisionTimeout.duration)
      }
    }
  }

  private func pump() {
    while let packet = data.next() { transmit(packet.span.bytes) }
    onSent?()
  }

  /// The closures may send packets, which also forwards them to the controller.
  private func announceRoom() {
    for handle in data.takeDrained() { connections[handle]?.onRoom?() }
  }
}
