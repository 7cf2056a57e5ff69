import BluetoothCore
import Central
import GATTClient
import HCI

/// Selects a device.
public enum RingSelector: Hashable, Sendable {
  /// The ring that is near, if it is one.
  case anyRing
  /// The device with this name; upper and lower case are the same.
  case name(String)
  /// The device with this address. The type is nil where the user did not give it: the advertisement supplies it.
  case address(UInt64, BluetoothAddress.Kind?)

  /// Parses user input: an address with or without its type, otherwise a name.
  public init(_ text: String) {
    if let address = BluetoothAddress(text), text.contains(":") || text.contains("-") {
      self = .address(address.value, text.contains("/") ? address.kind : nil)
    } else {
      self = .name(text)
    }
  }

  /// How well an advertisement matches; nil if it does not. For named devices only the name counts: whether they are
  /// rings is checked later.
  public func fit(_ advertisement: Advertisement) -> RingIdentity? {
    switch self {
    case .anyRing:
      RingIdentity.matches(name: advertisement.localName, services: advertisement.serviceUUIDs)
    case .name(let name):
      advertisement.localName?.lowercased() == name.lowercased() ? .service : nil
    case .address(let value, let kind):
      advertisement.address.value == value && (kind == nil || kind == advertisement.address.kind)
        ? .service : nil
    }
  }

  var whatIsMissing: String {
    switch self {
    case .anyRing: "no ring was found"
    case .name(let name): "no device named \(name.printable) was found"
    case .address(let value, let kind):
      "no device with the address \(BluetoothAddress(value, .public))\(kind.map { " (\($0))" } ?? "") was found"
    }
  }

  /// Whether a ring that is remembered is meant.
  public func isMeant(name: String?, address: BluetoothAddress?) -> Bool {
    switch self {
    case .anyRing: true
    case .name(let wanted): wanted.lowercased() == name?.lowercased()
    case .address(let value, let kind):
      address.map { $0.value == value && (kind == nil || kind == $0.kind) } ?? false
    }
  }
}

/// Finds a device among those that advertise.
@BluetoothActor
public enum RingFinder {
  /// How long to listen for other rings after the first one, if none was named. Silently choosing the wrong one would
  /// be worse than waiting.
  static let companyWait = Duration.seconds(1)
  /// How long to wait for a better match than a name that others have too.
  static let ambiguityWait = Duration.seconds(3)

  /// Waits for the device that `selector` means.
  ///
  /// - Returns: the device, as it advertised
  /// - Throws: `.notFound` after `deadline`; `.severalFound` if none was named and several rings are near
  public static func find(
    _ selector: RingSelector, on central: Central, deadline: Duration,
    scan parameters: ScanParameters = .gentle
  ) async throws(RingError) -> Advertisement {
    try await awaitCallback { (done: @escaping (Result<Advertisement, RingError>) -> Void) in
      let search = Search(selector, deadline: deadline, timers: central.timers, done: done)
      search.scan = central.scan(parameters) { [weak search] in search?.hear($0) }
      return { search.finish(.failure(.cancelled)) }
    }
  }

  @BluetoothActor
  private final class Search {
    var scan: Central.Scan?
    private let selector: RingSelector
    private let deadline: Duration
    private let timers: Timers
    private let done: OneShot<Result<Advertisement, RingError>>
    private var candidates: [BluetoothAddress: (device: Advertisement, fit: RingIdentity)] = [:]
    private var others: Set<BluetoothAddress> = []

    /// The maximum number of rings and other devices to remember: addresses can be generated without limit.
    private static let maximumCandidates = 64
    private static let maximumOthers = 1000
    private var timer: Timers.Token?
    private var decision: Timers.Token?

    init(
      _ selector: RingSelector, deadline: Duration, timers: Timers,
      done: @escaping (Result<Advertisement, RingError>) -> Void
    ) {
      self.selector = selector
      self.deadline = deadline
      self.timers = timers
      self.done = OneShot(done)
      timer = timers.schedule(after: deadline) { [weak self] in self?.timeUp() }
    }

    func finish(_ result: Result<Advertisement, RingError>) {
      guard done.isPending else { return }
      timers.cancel(timer)
      timers.cancel(decision)
      scan?.cancel()
      scan = nil
      done(result)
    }

    func hear(_ device: Advertisement) {
      // The address type is unknown: the device cannot be connected to.
      guard device.address.kind.isKnown else { return }
      guard let fit = selector.fit(device) else {
        if others.count < Self.maximumOthers { others.insert(device.address) }
        return
      }
      others.remove(device.address)
      if selector != .anyRing { return finish(.success(device)) }
      guard candidates[device.address] != nil || candidates.count < Self.maximumCandidates else { return }
      let isFirstSure = fit > .ambiguousName && !candidates.values.contains { $0.fit > .ambiguousName }
      candidates[device.address] = (device, fit)
      guard isFirstSure || decision == nil else { return }
      timers.cancel(decision)
      let wait = fit == .ambiguousName ? RingFinder.ambiguityWait : RingFinder.companyWait
      decision = timers.schedule(after: wait) { [weak self] in self?.decide() }
    }

    private func decide() {
      let best = candidates.values.map(\.fit).max()
      let rings = candidates.values.filter { $0.fit == best || $0.fit > .ambiguousName }.map(\.device)
      guard let ring = rings.first else { return timeUp() }
      guard rings.count == 1 else {
        let names = rings.map { "\($0.localName ?? "(no name)") \($0.address)" }.sorted()
        return finish(.failure(.severalFound(names)))
      }
      finish(.success(ring))
    }

    private func timeUp() {
      if !candidates.isEmpty, decision != nil { return decide() }
      finish(.failure(.notFound(selector, seconds: deadline.inSeconds, others: others.count)))
    }
  }
}
