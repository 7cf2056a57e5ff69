import HCI
import HaloBluetoothCore
import HaloSecurityManager
import L2CAP

/// Asks the controller for links that are silent: Disconnection Complete may have been lost on its serial line
/// (raspberrypi/linux 5460), and the kernel keeps such a link permanently.
@BluetoothActor
final class KernelLinkWatch {
  /// How often it is asked.
  private static let period = Duration.seconds(30)

  typealias RSSI = Result<Int8?, StackError>

  private let timers: Timers
  private let readRSSI: (ConnectionHandle, @escaping (RSSI) -> Void) -> Void
  private let onGone: (KernelLink) -> Void
  private var links: [(link: KernelLink, reads: UInt64?)] = []
  private var timer: Timers.Token?

  /// - Parameters:
  ///   - timers: the time
  ///   - readRSSI: asks the controller for the signal strength of a link
  ///   - onGone: called with a link that the controller does not know
  init(
    _ timers: Timers, readRSSI: @escaping (ConnectionHandle, @escaping (RSSI) -> Void) -> Void,
    onGone: @escaping (KernelLink) -> Void
  ) {
    (self.timers, self.readRSSI, self.onGone) = (timers, readRSSI, onGone)
  }

  func add(_ link: KernelLink) {
    links.append((link, link.reads))
    begin()
  }

  func remove(_ link: KernelLink) { links.removeAll { $0.link === link } }

  private func begin() {
    guard timer == nil, !links.isEmpty else { return }
    timer = timers.schedule(after: Self.period) { [weak self] in
      self?.timer = nil
      self?.ask()
      self?.begin()
    }
  }

  private func ask() {
    let silent = links.filter { $0.link.reads == $0.reads }.map(\.link)
    links = links.map { ($0.link, $0.link.reads) }
    // Twice, as the answer may be that to another program about its link.
    for link in silent { ask(link, times: 2) }
  }

  private func ask(_ link: KernelLink, times: Int) {
    guard let handle = link.handle, links.contains(where: { $0.link === link }) else { return }
    guard times > 0 else { return onGone(link) }
    readRSSI(handle) { [weak self] result in
      guard case .failure(let error) = result, error.refusal == .unknownConnectionIdentifier else { return }
      self?.ask(link, times: times - 1)
    }
  }
}

/// Finds out whether a peer that ends its links has asked for pairing. The kernel answers that on its own and does not report
/// it. The raw channel shows the data of all links, which cost a wake-up each: they are read for some seconds only, after a
/// peer has ended a link that was just made.
@BluetoothActor
final class PairingWatch {
  /// A link that its peer ends earlier was just made; the data of the next one are looked at for as long.
  static let earlyTime = Duration.seconds(5)
  /// How long the next link is waited for.
  private static let patience = Duration.seconds(60)

  /// Called with whether the raw channel is to show data.
  var onChange: ((Bool) -> Void)?
  private let timers: Timers
  private var requests: Set<ConnectionHandle> = []
  private var end: Timers.Token?

  init(_ timers: Timers) {
    self.timers = timers
  }

  /// A peer has ended a link within ``earlyTime``, and has not said why.
  func lostEarly() {
    if end == nil { onChange?(true) }
    stop(after: Self.patience)
  }

  /// The raw channel is gone; the next one shows no data.
  func reset() {
    timers.cancel(end.take())
    requests = []
  }

  func created(_ handle: ConnectionHandle) {
    requests.remove(handle)
    if end != nil { stop(after: Self.earlyTime) }
  }

  private func stop(after time: Duration) {
    timers.cancel(end)
    end = timers.schedule(after: time) { [weak self] in
      self?.end = nil
      self?.onChange?(false)
    }
  }

  /// Takes an ACL packet of any link, with its H4 type byte. A request is a frame of a few bytes, which is not cut.
  func receive(_ packet: RawSpan) {
    guard let packet = try? ACLPacket(packet.extracting(1..<packet.byteCount)) else { return }
    var reader = ByteReader(packet.data)
    guard packet.header.boundary != .continuing, let frame = try? BasicHeader(parsing: &reader),
      frame.channel == .securityManager,
      PairingRefusal.answer(to: packet.data.extracting(BasicHeader.length..<packet.data.byteCount)) != nil
    else { return }
    requests.insert(packet.header.handle)
  }

  /// Whether one end of the link has asked for pairing.
  func hasRequest(on handle: ConnectionHandle) -> Bool { requests.contains(handle) }
}

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
