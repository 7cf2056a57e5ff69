import GAP
import HaloBluetoothCore
import HaloCommandLine
import RingLink

private let kindOption = Option(
  "--kind", as: .choice("KIND", HistoryKind.allCases.map { ($0.rawValue, $0) }),
  help: "only this kind: \(HistoryKind.names) (default: all but sedentary)")

private let allOption = Flag(
  "--all", help: "all rings that are near, one after the other; --wait is for how long to look for them (5s)")

let syncCommand = CommandSpec(
  name: "sync", arguments: "[RING]", summary: "copy the data of the ring into the local store",
  options: [kindOption, allOption, StoreFile.option, CommonOptions.retryTime] + BrokerOutput.all + [
    CommonOptions.format
  ],
  examples: [
    ("halo-raw sync --adapter virtual:fast --store rings.sqlite", "copy all data of the built-in ring"),
    ("halo-raw sync --kind sleep --adapter virtual:fast --store rings.sqlite", "copy only the sleep data"),
  ],
  details: """
    Stored data is kept, and nothing is copied twice: run it as often as you like. If the link is lost or the program is
    ended, the next run continues there. docs/store.md describes the file.

    If a stream or a measurement of this user has the ring and was started with --sync-every, it is asked to copy the data now,
    into its own store.

    --mqtt publishes the newest value of each kind, with its time by the ring's clock, and sends no records.
    """
) { invocation in
  let kinds = invocation[kindOption].map { [$0] } ?? HistoryKind.allCases.filter(\.isSynced)
  let format = OutputFormat(invocation)
  var printer = RecordPrinter(
    format,
    [
      "kind", "read", "added", "supported", "problem", "left_out", "ring",
    ])
  let isAll = invocation[allOption]
  try invocation.checkRings(isAll: isAll)
  if !isAll, let copied = try await RunningCopy(invocation) {
    for outcome in copied.outcomes {
      printer.print(outcome.fields + [.text(copied.ring)], text: outcome.text)
    }
    return try copied.finish()
  }
  var problem: RingError?
  var failure: Failure?
  var hasRead = false
  try await Session.run(invocation) { session in
    // Open the store first: without it there is no reason to connect.
    let store = try StoreFile.open(invocation, creates: true, isReal: session.isReal)
    let broker = try await BrokerOutput.open(invocation, session)
    let read = { (selector: RingSelector?) async throws(Failure) in
      let link = session.keepRing(ReconnectPolicy.Budget(invocation), of: selector)
      let ring = try await link.open()
      let address = ring.connection.peer.description
      if isAll, format == .text { Console.print("\(link.name?.printable ?? "(no name)") \(address)\n") }
      let name = link.name ?? session.ringName
      let publisher = broker.map { RingPublisher($0, of: ring.connection.peer, name: name) }
      let sync = RingSync(ring, name: name, link, into: store, publisher, session)
      publisher?.announce { [weak sync] in sync?.currentRing }
      try await sync.run(kinds) { outcome in
        hasRead = true
        printer.print(outcome.fields + [.text(address)], text: outcome.text)
        if outcome.isSupported, problem == nil { problem = outcome.error }
      }
      await sync.currentRing.connection.disconnect()
    }
    do throws(Failure) {
      if isAll { try await readAll(session, invocation, read) } else { try await read(nil) }
    } catch {
      failure = error
    }
    if hasRead { Console.error("stored in \(store.path.printable)") }
    // The values that were read are published in any case.
    do throws(Failure) { try await broker?.finish() } catch { failure = failure ?? error }
  }
  if let failure { throw failure }
  if let problem { throw Failure(problem) }
}

/// Reads all rings that are near, one after the other. One that fails holds no other up.
@BluetoothActor
private func readAll(
  _ session: Session, _ invocation: Invocation, _ read: (RingSelector) async throws(Failure) -> Void
) async throws(Failure) {
  guard !session.replaysOnePeripheral else {
    throw .usage("a replay at the level of ATT has one ring; leave out --all")
  }
  var rings: [RingSelector] = []
  try await session.listenForRings(
    within: invocation.timeForAllRings, atMost: StreamGroup.maximumRings
  ) { rings.append($0) }
  var first: Failure?
  for selector in rings where !session.interruption.isRequested {
    do throws(Failure) {
      try await read(selector)
    } catch {
      guard error.code != .interrupted else { throw error }
      Console.error("halo-raw: \(selector.title): \(error.message)")
      first = first ?? error
    }
  }
  if let first { throw Failure(first.code, "not all rings were read; see above") }
}
