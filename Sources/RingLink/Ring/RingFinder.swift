import GAP
import HCI
import HaloBluetoothCore

/// Selects a device.
package enum RingSelector: Hashable, Sendable {
  /// The ring that is near, if it is one.
  case anyRing
  /// The device with this name; upper and lower case are the same.
  case name(String)
  /// The device with this address. The type is nil where the user did not give it: the advertisement supplies it.
  case address(UInt64, BluetoothAddress.Kind?)

  /// Parses user input: an address with or without its type, otherwise a name.
  package init(_ text: String) {
    if let address = BluetoothAddress(text), text.contains(":") || text.contains("-") {
      self = .address(address.value, text.contains("/") ? address.kind : nil)
    } else {
      self = .name(text)
    }
  }

  /// How well an advertisement matches; nil if it does not. For named devices only the name counts: whether they are
  /// rings is checked later.
  package func fit(_ advertisement: Advertisement) -> RingIdentity? {
    switch self {
    case .anyRing: RingIdentity.matches(advertisement)
    case .name(let name): advertisement.isNamed(name) ? .service : nil
    case .address(let value, let kind):
      advertisement.address.value == value && (kind == nil || kind == advertisement.address.kind)
        ? .service : nil
    }
  }

  /// Whether the device can be recognized by nothing but its address.
  package var isAddress: Bool { if case .address = self { true } else { false } }

  /// The same device under the address that stays, by which a bonded one is reported, if it is asked for at one that it had.
  @BluetoothActor fileprivate func identified(by central: Central) -> RingSelector {
    guard case .address(let value, let kind) = self else { return self }
    let address = BluetoothAddress(value, kind ?? .random)
    let identity = central.identity(of: address)
    return identity == address ? self : .address(identity.value, identity.kind)
  }

  var notFoundDescription: String {
    switch self {
    case .anyRing: "no ring was found"
    case .name(let name): "no device named \(name.printable) was found"
    case .address(let value, let kind):
      "no device with the address \(BluetoothAddress(value, .public))\(kind.map { " (\($0))" } ?? "") was found"
    }
  }

  /// Whether the selector selects a ring that is remembered.
  package func isMeant(name: String?, address: BluetoothAddress?) -> Bool {
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
package enum RingFinder {
  /// How long to listen for other rings after the first one, if none was named. Silently choosing the wrong one would
  /// be worse than waiting.
  static let otherRingsWait = Duration.seconds(1)
  /// The shortest time for that. It follows the advertising interval of the first one, during a continuous scan.
  static let shortestWait = Duration.milliseconds(200)
  /// How long to wait for a better match than a name that others have too.
  static let ambiguityWait = Duration.seconds(3)
  /// How long to wait for a ring that is sure, if a device without a name may be one.
  static let possibleWait = Duration.seconds(10)
  /// By how much, in dB, the strongest ring must exceed the others to be chosen.
  static let clearDifference = 20

  /// How to search.
  package struct Options {
    /// How often and how long to listen.
    package var scan = ScanParameters.gentle
    /// The rings that were used before. If it is one, it is taken at once.
    package var known: Set<PeerIdentity> = []
    /// Whether there may be other rings than the first one. If not, as in a simulation of one, it is taken at once.
    package var expectsOthers = true
    /// Called when other rings are awaited, with the first one.
    package var onWait: (Advertisement) -> Void = { _ in }
    /// Called when a device that may be a ring is taken, as no other is near.
    package var onPossible: (Advertisement) -> Void = { _ in }

    package init() {}
  }

  /// Waits for the device that `selector` means.
  ///
  /// - Returns: the device, as it advertised
  /// - Throws: `.notFound` or `.onlyPossible` after `deadline`; `.severalFound` if none was named, several rings are
  ///   near, and ``choice(among:known:)`` is nil
  package static func find(
    _ selector: RingSelector, on central: Central, deadline: Duration, options: Options = Options()
  ) async throws(RingError) -> Advertisement {
    let found = try await findAll(selector, on: central, deadline: deadline, options: options)
    guard let ring = choice(among: found, known: options.known) else {
      throw .severalFound(found.map(label).sorted())
    }
    return ring
  }

  private static func label(_ device: Advertisement) -> String {
    "\(device.localName ?? "(no name)") \(device.address)"
  }

  /// The same, with all rings that are near if none was named.
  ///
  /// - Returns: at least one device; the strongest first
  /// - Throws: `.notFound` or `.onlyPossible` after `deadline`, or why the radio does not scan
  package static func findAll(
    _ selector: RingSelector, on central: Central, deadline: Duration, options: Options = Options()
  ) async throws(RingError) -> [Advertisement] {
    let selector = selector.identified(by: central)
    return try await awaitCallback { (done: @escaping (Result<[Advertisement], RingError>) -> Void) in
      let search = Search(selector, on: central, deadline: deadline, options, done: done)
      search.listen(options.scan)
      return { search.finish(.failure(.cancelled)) }
    }
  }

  /// The ring to use: the only one, the only one that is known, or one that is much nearer than the others; nil if there is
  /// no such ring.
  ///
  /// - Parameters:
  ///   - rings: those that are near
  ///   - known: those that were used before
  package static func choice(among rings: [Advertisement], known: Set<PeerIdentity>) -> Advertisement? {
    guard rings.count > 1 else { return rings.first }
    let familiar = rings.filter { known.contains($0.identity) }
    guard familiar.isEmpty else { return familiar.count == 1 ? familiar[0] : nil }
    let strengths = rings.map { $0.lastRSSI.map(Int.init) ?? -128 }.sorted(by: >)
    guard strengths[0] - strengths[1] >= clearDifference else { return nil }
    return rings.first { $0.lastRSSI.map(Int.init) == strengths[0] }
  }

  @BluetoothActor
  private final class Search {
    private var scan: Central.Scan?
    private let selector: RingSelector
    private let central: Central
    private let deadline: Duration
    private let options: Options
    private let timers: Timers
    private let done: OneShot<Result<[Advertisement], RingError>>
    private var candidates: [PeerIdentity: (device: Advertisement, fit: RingIdentity)] = [:]
    private var others: Set<PeerIdentity> = []
    /// Devices that may be rings: one with a name is used if it is named, one without if there is no other.
    private var possible: [PeerIdentity: Advertisement] = [:]
    private var possibleTimer: Timers.Token?
    /// The ring whose advertising interval decides how long others are awaited, and when it was heard first.
    private var first: (peer: PeerIdentity, time: Instant)?

    /// The maximum number of rings and other devices to remember: addresses can be generated without limit.
    private static let maximumCandidates = 64
    private static let maximumOthers = 1000
    /// A scan response follows its advertisement sooner than that; the next advertisement does not (Core Specification
    /// Vol 6, Part B, 4.4.2.2).
    private static let shortestInterval = Duration.milliseconds(15)
    private var timer: Timers.Token?
    private var decision: Timers.Token?

    init(
      _ selector: RingSelector, on central: Central, deadline: Duration, _ options: Options,
      done: @escaping (Result<[Advertisement], RingError>) -> Void
    ) {
      self.selector = selector
      self.central = central
      self.deadline = deadline
      self.options = options
      timers = central.timers
      self.done = OneShot(done)
      timer = timers.schedule(after: deadline) { [weak self] in self?.timeUp() }
    }

    func listen(_ parameters: ScanParameters) {
      let last = scan
      scan = central.scan(parameters) { [weak self] in self?.hear($0) }
      // After the new one, so that the radio does not stop in between.
      last?.cancel()
    }

    func finish(_ result: Result<[Advertisement], RingError>) {
      guard done.isPending else { return }
      timers.cancel(timer)
      timers.cancel(decision)
      timers.cancel(possibleTimer)
      scan.take()?.cancel()
      done(result)
    }

    func hear(_ device: Advertisement) {
      guard done.isPending else { return }
      // The address type is unknown: the device cannot be connected to.
      guard device.address.kind.isKnown else { return }
      guard let fit = selector.fit(device) else {
        // Its name may have come, and be that of something else.
        possible[device.identity] = nil
        candidates[device.identity] = nil
        if others.count < Self.maximumOthers { others.insert(device.identity) }
        return
      }
      others.remove(device.identity)
      guard fit > .possible || options.known.contains(device.identity) else {
        if possible[device.identity] != nil || possible.count < Self.maximumCandidates {
          possible[device.identity] = device
        }
        if possibleTimer == nil, device.localName == nil {
          possibleTimer = timers.schedule(after: RingFinder.possibleWait) { [weak self] in
            self?.takeOnlyPossible()
          }
        }
        return
      }
      possible[device.identity] = nil
      if selector != .anyRing || options.known == [device.identity] { return finish(.success([device])) }
      guard candidates[device.identity] != nil || candidates.count < Self.maximumCandidates else { return }
      if !options.expectsOthers, fit > .ambiguousName { return finish(.success([device])) }
      let isFirstSure = fit > .ambiguousName && !candidates.values.contains { $0.fit > .ambiguousName }
      candidates[device.identity] = (device, fit)
      guard isFirstSure || decision == nil else { return adapt(to: device) }
      timers.cancel(decision)
      let isSure = fit > .ambiguousName
      decide(after: isSure ? RingFinder.otherRingsWait : RingFinder.ambiguityWait)
      guard isSure else { return }
      options.onWait(device)
      first = (device.identity, device.lastSeen)
      var parameters = options.scan
      parameters.window = parameters.interval
      listen(parameters)
    }

    private func decide(after wait: Duration) {
      decision = timers.schedule(after: wait) { [weak self] in self?.decide() }
    }

    /// Other rings advertise about as often as the first one: its interval is the time between its first two
    /// advertisements, at most. Three more of them are awaited.
    private func adapt(to device: Advertisement) {
      guard let first, first.peer == device.identity else { return }
      let interval = device.lastSeen - first.time
      guard interval >= Self.shortestInterval else { return }
      self.first = nil
      let wait = min(max(interval * 4, RingFinder.shortestWait), RingFinder.otherRingsWait)
      timers.cancel(decision)
      decide(after: max(.zero, wait - interval))
    }

    private func decide() {
      let best = candidates.values.map(\.fit).max()
      let rings = candidates.values.filter { $0.fit == best || $0.fit > .ambiguousName }.map(\.device)
      guard !rings.isEmpty else { return timeUp() }
      finish(
        .success(
          rings.sorted {
            ($0.lastRSSI ?? .min, $1.address.value) > ($1.lastRSSI ?? .min, $0.address.value)
          }))
    }

    /// The only device that may be a ring, if it has no name to be named by.
    private func takeOnlyPossible() {
      guard candidates.isEmpty, possible.count == 1, let device = possible.values.first,
        device.localName == nil
      else { return }
      options.onPossible(device)
      finish(.success([device]))
    }

    private func timeUp() {
      if !candidates.isEmpty, decision != nil { return decide() }
      takeOnlyPossible()
      guard done.isPending else { return }
      if let refusal = central.scanRefusal { return finish(.failure(.bluetooth(refusal))) }
      if case .address(let value, let kind) = selector,
        let use = central.useByOthers(of: BluetoothAddress(value, kind ?? .random))
      {
        return finish(.failure(.bluetooth(use)))
      }
      guard possible.isEmpty else {
        return finish(
          .failure(.onlyPossible(possible.values.map(RingFinder.label).sorted(), seconds: deadline.inSeconds))
        )
      }
      finish(
        .failure(
          .notFound(
            selector, seconds: deadline.inSeconds, others: others.count,
            lacksScanResponses: !selector.isAddress && central.lacksScanResponses)))
    }
  }
}
