import BluetoothCore
import Central
import HCI
import KnownDevices
import RingLink

/// All rings that are near.
extension Session {
  /// Looks for rings for the time of `--wait`, or five seconds.
  func ringsNear(_ invocation: Invocation) async throws(Failure) -> [RingSelector] {
    guard !replaysOnePeripheral else {
      throw .usage("a replay at the level of ATT has one ring; leave out --all")
    }
    let wait = invocation.isGiven(CommonOptions.wait) ? invocation[CommonOptions.wait] : .seconds(5)
    var rings: [RingSelector] = []
    try await listenForRings(within: wait, atMost: StreamGroup.maximumRings) { rings.append($0) }
    return rings
  }

  /// Calls `found` for each ring that is heard.
  func listenForRings(
    within time: Duration, atMost most: Int, _ found: @escaping (RingSelector) -> Void
  ) async throws(Failure) {
    var addresses: Set<BluetoothAddress> = []
    let known = Set(self.known.rings.compactMap(\.bluetoothAddress))
    let scan = central.scan(scanParameters) { device in
      let address = device.address
      let isRing =
        known.contains(address) || (RingSelector.anyRing.fit(device) ?? .ambiguousName) > .ambiguousName
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
