import HaloBluetoothCore
import HaloCommandLine
import RingLink

extension Invocation {
  /// How long to look for all rings that are near: the time of `--wait`, or five seconds.
  var timeForAllRings: Duration { isGiven(CommonOptions.wait) ? self[CommonOptions.wait] : .seconds(5) }

  /// Refuses `--all` together with the name of a ring, the first positional.
  ///
  /// - Parameter isAll: whether `--all` is given
  func checkRings(isAll: Bool) throws(Failure) {
    guard isAll, let ring = positionals.first else { return }
    throw .usage("--all and \"\(ring.printable)\" exclude each other")
  }
}

/// All rings that are near.
extension Session {
  /// Looks for rings for ``Invocation/timeForAllRings``.
  func ringsNear(_ invocation: Invocation) async throws(Failure) -> [RingSelector] {
    guard !replaysOnePeripheral else {
      throw .usage("a replay at the level of ATT has one ring; leave out --all")
    }
    var rings: [RingSelector] = []
    try await listenForRings(
      within: invocation.timeForAllRings, atMost: StreamGroup.maximumRings
    ) { rings.append($0) }
    return rings
  }

  /// Calls `found` for each ring that is heard.
  func listenForRings(
    within time: Duration, atMost most: Int, _ found: @escaping (RingSelector) -> Void
  ) async throws(Failure) {
    var addresses: Set<BluetoothAddress> = []
    let known = Set(self.known.rings.compactMap(\.peer))
    let scan = central.scan(scanParameters) { device in
      let address = device.address
      let isRing =
        known.contains(device.identity)
        || (RingSelector.anyRing.fit(device) ?? .ambiguousName) > .ambiguousName
      guard isRing, address.kind.isKnown, addresses.count < most, addresses.insert(address).inserted
      else { return }
      found(.address(address.value, address.kind))
    }
    await interruption.sleep(for: time, in: timers)
    scan.cancel()
    guard addresses.isEmpty, !interruption.isRequested else { return }
    throw Failure(RingError.notFound(.anyRing, seconds: time.inSeconds, others: 0))
  }
}
