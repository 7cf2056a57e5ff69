import HCI

/// Keeps one link at the parameters that were asked for. The kernel grants whatever a peripheral wishes for and can't
/// be told otherwise; what it has granted is seen from the controller's events, and can be taken back.
///
/// It does so a limited number of times a link: a peer that insists wins, and nobody goes on for ever.
struct KernelParameterPin: Hashable {
  /// What is to be done about the parameters that are in force.
  enum Verdict: Hashable {
    /// They are as asked for, or that they are not has been told.
    case leave
    /// Ours are to be asked for again: for this time of at most ``maximumRequests``.
    case restore(Int)
    /// They were asked for often enough. Told once.
    case giveUp
  }

  /// How often the controller is asked, for as long as the link lasts. Rings wish three times.
  static let maximumRequests = 8

  let parameters: ConnectionParameters
  private var requests = 0

  /// - Returns: nil if the peer may have what it wishes
  init?(_ request: ConnectionRequest) {
    guard request.parameterPolicy == .keep else { return nil }
    parameters = request.parameters
  }

  /// Judges what is in force now.
  mutating func judge(_ current: LinkParameters) -> Verdict {
    guard !isMet(by: current), requests <= Self.maximumRequests else { return .leave }
    requests += 1
    return requests > Self.maximumRequests ? .giveUp : .restore(requests)
  }

  /// Any interval of the range will do, and a lower latency than the one that is allowed.
  private func isMet(by current: LinkParameters) -> Bool {
    (parameters.intervalMin...max(parameters.intervalMin, parameters.intervalMax)).contains(current.interval)
      && current.latency <= parameters.latency
      && current.supervisionTimeout == parameters.supervisionTimeout
  }
}
