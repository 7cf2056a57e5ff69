import GAP
import HaloBluetoothCore
import HaloCommandLine
import HaloRaw

private enum StrapOption {
  static let to = Option(
    "--to", as: .adapter,
    help:
      "the adapter for watches and phones: hciN, user:hciN, tcp:HOST:PORT, unix:PATH or serial:PATH[@BAUD] "
      + "(default: that of the ring)")
  static let name = Option(
    "--name",
    as: ArgumentType(placeholder: "NAME", expected: "a name of 1 to 29 bytes") { text in
      // It fits in a scan response.
      (1...29).contains(text.utf8.count) ? text : nil
    }, default: "Ring HR", help: "the name that watches and phones show")
}

let strapCommand = CommandSpec(
  name: "strap", arguments: "[RING]",
  summary: "offer the ring's heart rate to watches, bicycle computers and phones, as a chest strap does",
  options: [StrapOption.to, StrapOption.name] + ServingOption.admission,
  examples: [
    ("sudo halo-raw strap R02_A1B2 --adapter hci0", "one adapter for the ring and for the watch"),
    ("halo-raw strap --adapter hci0 --to hci1", "one adapter for each"),
  ],
  details: """
    Every program for heart-rate straps can use it: it looks for the service Heart Rate. Up to \
    \(StrapServer.maximumConnections) devices may be connected at once. They get one value a second. When the ring has no value that \
    is newer than 5 seconds, it is "no contact" and 0, and never the last value again.

    A ring that has the counted stream sends its light: each beat is found in it (see halo-raw beats), and watches get the times
    between beats (RR), which others leave out. They are times of the pulse at the finger.

    The ring measures while somebody has subscribed, and half a minute longer. The first value comes after a warm-up of 20
    seconds and more; keep still. To measure all the time takes a battery of the ring in a few hours. If the ring is
    lost, the strap stays, without contact, and the ring is looked for.

    Some watches pair with a strap before they use it, which this one refuses, unless its adapter is hciN: the
    kernel pairs. Watches that know ANT+ straps only do not find it. A phone whose app holds the ring keeps it from this
    program.

    With hciN, watches can connect only if the program has CAP_NET_ADMIN: use sudo. Not every adapter can be connected to a
    ring and advertise: with two, --adapter is that of the ring, and --to the other one. --record and --explain are about
    --adapter.

    Ctrl-C ends it.
    """
) { invocation in
  let adapter = try invocation.adapter
  if case .replay = adapter { throw Failure.usage("a recording has no ring to measure with") }
  // A strap that lost its ring is one without contact.
  let budget = ReconnectPolicy.Budget(invocation, retryTime: .forever, isSteady: true)
  guard let phoneSide = invocation[StrapOption.to] else {
    guard adapter.isReal else {
      throw Failure.usage("strap needs a radio for watches and phones; give --to hci0")
    }
    return try await Session.run(invocation, endsInOrder: true) { session in
      try await serve(
        session, invocation, budget, on: session.adapter, at: session.central.information?.place)
    }
  }
  guard phoneSide.isReal else {
    throw Failure.usage("--to needs a radio: hci0, user:hci0, tcp:HOST:PORT, unix:PATH or serial:PATH")
  }
  let (ofRing, ofPhone) = try invocation.divided(adapter, phoneSide)
  let interruption = Interruption()
  try await ServingAdapter.run(
    phoneSide, ofPhone, hides: ofPhone[CommonOptions.privacy], opensAnother: true, until: interruption
  ) {
    served in
    try await Session.run(ofRing, endsInOrder: true) { session in
      // The failure of the other adapter ends both.
      let forget = interruption.onRequest { session.interruption.request() }
      defer { forget() }
      try await serve(session, invocation, budget, on: served.adapter, at: served.place)
    }
  }
}

/// Offers the heart rate of a ring until the interruption.
///
/// - Parameters:
///   - session: leads to the ring
///   - invocation: has the name that other devices show, and which of them may connect
///   - budget: how long the ring is looked for
///   - adapter: that of the other devices, which is started
///   - place: the address that they see
@BluetoothActor
private func serve(
  _ session: Session, _ invocation: Invocation, _ budget: ReconnectPolicy.Budget, on adapter: any Adapter,
  at place: String?
) async throws {
  let server = StrapServer(adapter, name: invocation[StrapOption.name])
  server.admit(invocation)
  let place = place.map { " at \($0)" } ?? ""
  try server.start(
    telling: "advertises\(place), for the heart rate of \(session.selector.title); Ctrl-C ends it")
  let link = session.keepRing(budget)
  let source = StrapSource(server, session, link)
  let result = await outcome {
    try await link.listen { ring in
      try await source.run(ring)
    } onLoss: { _ in
      source.lost()
    }
  }
  await link.close()
  await server.stop()
  try result.get()
}

extension Invocation {
  /// The options of the ring's adapter, and of the other one: `--take` is about those that this program drives, and the
  /// recorded and explained packets are the ring's.
  fileprivate func divided(
    _ ring: AdapterSpecification, _ phone: AdapterSpecification
  ) throws(Failure) -> (ring: Invocation, phone: Invocation) {
    var (ofRing, ofPhone) = (self, self)
    ofPhone.set(CommonOptions.record, to: nil)
    ofPhone.set(CommonOptions.explain, to: nil)
    guard self[CommonOptions.take] else { return (ofRing, ofPhone) }
    guard ring.isUserChannel || phone.isUserChannel else {
      throw .usage("--take needs --adapter user:hciN or --to user:hciN")
    }
    ofRing.set(CommonOptions.take, to: ring.isUserChannel)
    ofPhone.set(CommonOptions.take, to: phone.isUserChannel)
    return (ofRing, ofPhone)
  }
}

extension AdapterSpecification {
  fileprivate var isUserChannel: Bool { if case .user = self { true } else { false } }
}
