import ATT
import GAP
import HCI
import HaloBluetoothCore

/// The requests for the options of a link.
extension LinkOptions {
  /// How long a link has to get the required options.
  private static let grantingTime = Duration.seconds(2)
  private static let grantingPause = Duration.milliseconds(20)

  /// - Parameter current: the parameters that the link keeps where it is asked for no others
  /// - Throws: `.invalidValue` for numbers that no link can have
  func check(beside current: ConnectionParameters = .fast) throws(BluetoothError) {
    func require(_ isValid: Bool, _ text: String) throws(BluetoothError) {
      guard isValid else { throw BluetoothError(.invalidValue, text) }
    }
    if let interval {
      let legal = Duration.microseconds(7500) ... .seconds(4)
      try require(
        legal.contains(interval.lowerBound) && legal.contains(interval.upperBound),
        "the interval of a link is 7.5 ms to 4 s")
    }
    if let latency { try require(0...499 ~= latency, "the latency of a link is 0 to 499 events") }
    if let dataLength { try require(27...251 ~= dataLength, "the data length of a link is 27 to 251 bytes") }
    if let mtu {
      try require(
        ATTBearer.defaultMTU...ATTBearer.largestMTU ~= mtu,
        "an MTU is \(ATTBearer.defaultMTU) to \(ATTBearer.largestMTU) bytes")
    }
    if let supervisionTimeout {
      try require(
        .milliseconds(100) ... .seconds(32) ~= supervisionTimeout,
        "the supervision timeout of a link is 100 ms to 32 s")
    }
    let longest = interval?.upperBound ?? current.intervalMax.duration
    let silence = longest * ((latency ?? Int(current.latency)) + 1)
    try require(
      silence * 2 < supervisionTimeout ?? .seconds(32),
      "the supervision timeout must be more than twice the longest time between two events of the peripheral, \(Int(silence.inSeconds * 1000)) ms"
    )
  }

  /// The same for a link that there is.
  @BluetoothActor
  func check(on link: GATTLink) throws(BluetoothError) {
    try check(beside: link.parameters.map { ConnectionParameters($0) } ?? .fast)
  }

  /// The parameters to ask for; nil if those of the link are left to others.
  ///
  /// - Parameter usual: the values in place of nil
  func parameters(usual: ConnectionParameters) -> ConnectionParameters? {
    guard interval != nil || latency != nil || supervisionTimeout != nil else { return nil }
    var parameters = usual
    if let interval {
      parameters.intervalMin = ConnectionInterval(interval.lowerBound)
      parameters.intervalMax = ConnectionInterval(interval.upperBound)
    }
    if let latency { parameters.latency = UInt16(clamping: latency) }
    let silence = parameters.intervalMax.duration * (Int(parameters.latency) + 1)
    let timeout = max(usual.supervisionTimeout.duration, silence * 3)
    parameters.supervisionTimeout = SupervisionTimeout(supervisionTimeout ?? timeout)
    return parameters
  }

  /// A request for a link that has all this from its beginning, where it can.
  func request(for peer: BluetoothAddress, within time: Duration) -> ConnectionRequest {
    var request = ConnectionRequest(
      peer: peer, parameters: parameters(usual: .fast) ?? .fast,
      parameterPolicy: isRequired && interval != nil ? .keep : .accept, deadline: time)
    request.mtu = mtu
    if isLeftInClear { request.firstEncryption = .never }
    if phy != nil || dataLength != nil {
      request.preferences = LinkPreferences(
        phys: phy?.codes.set ?? LinkPreferences.standard.phys,
        dataLength: dataLength ?? LinkPreferences.standard.dataLength)
    }
    return request
  }

  /// Requests the options that a link lacks.
  ///
  /// - Throws: the refusal of the other side, or of the controller
  @BluetoothActor
  func apply(to link: GATTLink) async throws(StackError) {
    let current = link.parameters.map { ConnectionParameters($0) } ?? .fast
    var refusal: StackError?
    // One that is refused leaves the others.
    func attempt(_ ask: () async throws(StackError) -> Void) async {
      do throws(StackError) { try await ask() } catch { refusal = refusal ?? error }
    }
    if let parameters = parameters(usual: current), missingParameter(of: link) != nil {
      await attempt { () throws(StackError) in try await link.updateParameters(parameters) }
    }
    if let phy, link.phys != LinkPHYs(phy) {
      await attempt { () throws(StackError) in try await link.setPHYs(phy.codes.set) }
    }
    if let dataLength, link.dataLengths.map({ Int($0.transmit.octets) }) != dataLength {
      await attempt { () throws(StackError) in try await link.setDataLength(dataLength) }
    }
    if let refusal { throw refusal }
  }

  /// Waits until a link has all that is required.
  @BluetoothActor
  func prove(_ link: GATTLink) async throws(StackError) {
    guard isRequired else { return }
    let end = link.timers.current + Self.grantingTime
    while let missing = missing(on: link) {
      guard link.isConnected else { throw .notConnected }
      guard !Task.isCancelled else { throw .cancelled }
      guard link.timers.current < end else {
        throw StackError(.refused, .final, "the link has \(missing), which is required (LinkOptions)")
      }
      await link.timers.sleep(for: Self.grantingPause)
    }
  }

  @BluetoothActor
  private func missing(on link: GATTLink) -> String? {
    if let mtu, link.mtu < mtu { return "an MTU of \(link.mtu), not \(mtu)" }
    if let phy, link.phys != LinkPHYs(phy) {
      return "\(link.phys.map { "\($0)" } ?? "a PHY that is not known"), not \(phy.codes.one)"
    }
    if let dataLength, link.dataLengths.map({ Int($0.transmit.octets) }) ?? 0 < dataLength {
      let length = link.dataLengths.map { "\($0.transmit.octets) bytes" } ?? "a length that is not known"
      return "packets of \(length), not \(dataLength) bytes"
    }
    return missingParameter(of: link)
  }

  @BluetoothActor
  private func missingParameter(of link: GATTLink) -> String? {
    guard let current = link.parameters,
      let wanted = parameters(usual: ConnectionParameters(current))
    else { return nil }
    if interval != nil, current.interval < wanted.intervalMin || wanted.intervalMax < current.interval {
      return "an interval of \(current.interval), not \(wanted.intervalMin) to \(wanted.intervalMax)"
    }
    if latency != nil, current.latency != wanted.latency {
      return "a latency of \(current.latency), not \(wanted.latency)"
    }
    if supervisionTimeout != nil, current.supervisionTimeout != wanted.supervisionTimeout {
      return "a supervision timeout of \(current.supervisionTimeout), not \(wanted.supervisionTimeout)"
    }
    return nil
  }
}

extension ConnectionParameters {
  /// The parameters that a link has.
  fileprivate init(_ parameters: LinkParameters) {
    self.init(
      intervalMin: parameters.interval, intervalMax: parameters.interval, latency: parameters.latency,
      supervisionTimeout: parameters.supervisionTimeout)
  }
}

extension LinkPHYs {
  /// One for both directions.
  fileprivate init(_ phy: PHY) {
    self.init()
    (transmit, receive) = (phy.codes.one, phy.codes.one)
  }
}

extension PHY {
  /// As HCI has it: one, and a set of this one.
  fileprivate var codes: (one: LEPHY, set: LEPHYs) {
    switch self {
    case .le1M: (.le1M, .le1M)
    case .le2M: (.le2M, .le2M)
    case .leCoded: (.leCoded, .leCoded)
    }
  }

  /// Nil for one that is not known.
  init?(_ phy: LEPHY) {
    switch phy {
    case .le1M: self = .le1M
    case .le2M: self = .le2M
    case .leCoded: self = .leCoded
    default: return nil
    }
  }
}
