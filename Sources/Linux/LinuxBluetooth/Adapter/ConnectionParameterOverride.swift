import HCI

/// Keeps one link at the requested parameters. The kernel accepts all parameter requests of a peripheral, without an
/// option to refuse them. The controller's events show the new parameters, and an update restores the requested ones.
///
/// The number of updates per link is limited: a peer that keeps changing them gets its parameters.
struct ConnectionParameterOverride: Hashable {
  /// The action for the current parameters.
  enum Verdict: Hashable {
    /// None: they are as requested, or the difference was reported before.
    case leave
    /// Request the parameters again; the number of the request, of at most ``maximumRequests``.
    case restore(Int)
    /// The limit is reached. Reported once.
    case giveUp
  }

  /// The limit of requests per link. Rings request their parameters three times.
  static let maximumRequests = 8

  let parameters: ConnectionParameters
  private var requests = 0

  /// - Returns: nil if the peer may choose the parameters
  init?(_ request: ConnectionRequest) {
    guard request.parameterPolicy == .keep, !request.leftOut.contains(.keepParameters) else { return nil }
    parameters = request.parameters
  }

  /// Decides about the current parameters.
  mutating func verdict(on current: LinkParameters) -> Verdict {
    guard !isMet(by: current), requests <= Self.maximumRequests else { return .leave }
    requests += 1
    return requests > Self.maximumRequests ? .giveUp : .restore(requests)
  }

  /// Any interval in the range is accepted, and any latency up to the requested one.
  private func isMet(by current: LinkParameters) -> Bool {
    (parameters.intervalMin...max(parameters.intervalMin, parameters.intervalMax)).contains(current.interval)
      && current.latency <= parameters.latency
      && current.supervisionTimeout == parameters.supervisionTimeout
  }
}
