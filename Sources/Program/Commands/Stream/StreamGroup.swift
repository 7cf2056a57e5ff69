import HaloBluetoothCore
import HaloCommandLine
import RingLink

/// Streams of several rings over one adapter. Each has its own link, records and summary; one that is out of reach or fails
/// holds no other up.
@BluetoothActor
final class StreamGroup {
  private let session: Session
  private let live: LiveOutput
  /// The page of all streams; nil without `--web`.
  private let web: LiveServer?
  private let options: StreamOptions
  private let origin = RecordOrigin()
  /// The names of the rings in messages and lines of text.
  private var names: [BluetoothAddress: String] = [:]
  /// Which selector each address is of.
  private var claims: [BluetoothAddress: RingSelector] = [:]
  private var tasks: [Task<Void, Never>] = []
  private var failures: [Failure] = []
  private var hasStreamed = false

  /// More than a controller has links.
  nonisolated static let maximumRings = 64
  /// The width of a name in text: that of the names that rings have.
  fileprivate nonisolated static let nameWidth = 8

  init(_ session: Session, _ live: LiveOutput, _ web: LiveServer?, _ options: StreamOptions) {
    self.session = session
    self.live = live
    self.web = web
    self.options = options
  }

  /// The rings that a command line names.
  static func selectors(_ invocation: Invocation, isAll: Bool) throws(Failure) -> [RingSelector] {
    let names = invocation.positionals
    guard names.isEmpty || !isAll else {
      throw .usage("--all and the name of a ring exclude each other")
    }
    var selectors: [RingSelector] = []
    for name in names {
      let selector = try invocation.ring(name)
      guard !selectors.contains(where: { $0.isSame(as: selector) }) else {
        throw .usage("\(name.printable) is named twice")
      }
      selectors.append(selector)
    }
    return selectors
  }

  /// Streams until the last ring has ended.
  ///
  /// - Parameters:
  ///   - selectors: the rings
  ///   - scanTime: how long to look for more rings; nil for the selected ones only
  func run(_ selectors: [RingSelector], scanTime: Duration?) async throws(Failure) {
    guard !session.replaysOnePeripheral else {
      throw .usage("a replay at the level of ATT has one ring; name one, and leave out --all")
    }
    session.waitsForAdvertisements = true
    try await live.beginSeveral(
      columns: SampleWriter.columns(
        of: options.kinds, isCounted: options.mayBeCounted, hasBeats: options.hasBeats))
    try await live.complete {
      for selector in selectors { add(selector) }
      if let scanTime {
        try await session.listenForRings(within: scanTime, atMost: Self.maximumRings) { [self] in add($0) }
      }
      for task in tasks { await task.value }
    }
    if let dropped = session.droppedPackets { Console.error(dropped) }
    if let first = failures.first {
      throw Failure(
        first.code, "\(failures.count) of \(Console.counted(tasks.count, "ring")) failed; see above")
    }
    if session.interruption.isRequested, !hasStreamed {
      throw Failure(StackError.cancelled)
    }
  }

  /// Starts the stream of a ring.
  private func add(_ selector: RingSelector) {
    tasks.append(
      BluetoothActor.run { [self] in
        do throws(Failure) {
          try await stream(selector)
        } catch {
          guard error.code != .interrupted || !session.interruption.isRequested else { return }
          failures.append(error)
          Console.error("halo-raw: \(selector.title(names)): \(error.message)")
        }
      })
  }

  private func claim(_ address: BluetoothAddress, for selector: RingSelector) throws(Failure) {
    guard claims[address] == nil || claims[address] == selector else {
      throw .usage("it is the ring \(address), which is streamed already; name it once")
    }
    claims[address] = selector
  }

  private func stream(_ selector: RingSelector) async throws(Failure) {
    let session = self.session
    let kinds = options.kinds
    let live = self.live
    let link = session.keepStream(live, options, of: selector) { [self] address throws(Failure) in
      try claim(address, for: selector)
    }
    let (ring, chosen) = try await link.ask { [options] ring in
      (ring, try await session.chooseStream(of: ring, options))
    }
    let found = link.name
    let address = ring.connection.peer
    let isUnique = found.map { !names.values.contains($0) } ?? false
    let name = isUnique ? found?.printable ?? "" : address.description
    names[address] = name
    let header = live.add(live.description(of: ring, name: found))
    let writer = SampleWriter(
      live.format, kinds: kinds, isCounted: options.mayBeCounted, hasBeats: options.hasBeats,
      encoding: ring.firmware.accelerometerEncoding, clock: live.clock, ring: address.description,
      label: label(name), origin: origin,
      hasColumns: names.count == 1, header: header, output: live.writer)
    let mirror = live.publisher(of: address, name: found).map {
      SampleMirror($0, of: ring, kinds, live.clock, origin: origin, hasBeats: options.hasBeats)
    }
    let plan = try await outcome { try RingPlan(live.invocation, session, mirror?.publisher) }.get()
    link.title = name
    let beats = web != nil || options.hasBeats ? BeatFinder(of: ring) : nil
    let vitals = web.map { _ in StreamVitals(session, kinds, plan, beats) }
    let feed = vitals.flatMap { web?.feed(of: ring, name: found, kinds, $0) }
    let observers = [beats as (any SampleObserver)?, mirror, vitals, feed].compactMap { $0 }
    let stream = SampleStream(
      ring, link, chosen, writer: writer, observers: observers, plan, options, session)
    hasStreamed = true
    defer { live.complete(link, stream.results) }
    try await stream.run()
  }
}

/// A name in lines of text.
private func label(_ name: String) -> String {
  name + String(repeating: " ", count: max(0, StreamGroup.nameWidth - name.utf8.count) + 2)
}

extension RingSelector {
  /// Whether the user names the same ring twice.
  fileprivate func isSame(as other: RingSelector) -> Bool {
    switch (self, other) {
    case (.name(let name), .name(let other)): name.lowercased() == other.lowercased()
    case (.address(let value, let kind), .address(let other, let otherKind)):
      value == other && (kind == otherKind || kind == nil || otherKind == nil)
    default: false
    }
  }

  /// The ring in messages, by its name if that is known.
  fileprivate func title(_ names: [BluetoothAddress: String]) -> String {
    guard case .address = self else { return title }
    return names.first { isMeant(name: nil, address: $0.key) }?.value ?? title
  }
}
