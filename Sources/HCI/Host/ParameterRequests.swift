import HaloBluetoothCore

/// Answers the peers' requests for other connection parameters (Vol 4, Part E, 7.7.65.6).
final class ParameterRequests {
  private let commands: CommandQueue
  /// Links whose last reply has not been completed by the controller.
  private var open: Set<ConnectionHandle> = []

  init(_ commands: CommandQueue) {
    self.commands = commands
  }

  /// Accepts or rejects a request, as the link's policy says. A link has one such procedure at a time, so one reply at a
  /// time is sufficient: further events are a flood.
  ///
  /// - Parameter connection: the link; nil if it is unknown
  /// - Returns: false if there are too many requests
  func answer(_ event: LERemoteConnectionParameterRequest, on connection: LEConnection?, at time: Instant)
    -> Bool
  {
    guard open.insert(event.handle).inserted else { return false }
    let request = ConnectionParameters(
      intervalMin: event.intervalMin, intervalMax: event.intervalMax, latency: event.latency,
      supervisionTimeout: event.supervisionTimeout)
    let done = { [weak self] (_: Result<LinkOnly, StackError>) -> Void in
      self?.remove(event.handle)
    }
    let isAdmitted = connection?.admitsParameterRequest(at: time) ?? true
    if isAdmitted, connection?.grants(request, at: time) == true {
      commands.send(
        LERemoteConnectionParameterRequestReply {
          $0.handle = event.handle
          $0.parameters = request
        }, completion: done)
    } else {
      commands.send(LERemoteConnectionParameterRequestNegativeReply(handle: event.handle), completion: done)
    }
    return isAdmitted
  }

  /// A link is disconnected.
  func remove(_ handle: ConnectionHandle) { open.remove(handle) }

  func removeAll() { open = [] }
}
