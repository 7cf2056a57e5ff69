import BluetoothCore
import EventLoop
import GATTClient
import HCI
import KnownDevices
import RingLink

/// Finding devices, connecting to them, and connecting again.
extension Session {
  /// Waits for an advertisement of the selected device.
  private func find(deadline: Duration) async throws(Failure) -> Advertisement {
    do throws(RingError) {
      let device = try await RingFinder.find(selector, on: central, deadline: deadline, scan: scanParameters)
      note(
        "found \(device.localName ?? "(no name)") \(device.address) (\(device.address.kind))"
          + (device.rssi.map { ", \($0) dBm" } ?? ""))
      return device
    } catch {
      throw Failure(error)
    }
  }

  /// Connects to a device without a scan.
  private func connect(
    to peer: BluetoothAddress, deadline: Duration
  ) async throws(HCIError) -> GATTClient {
    var request = self.request
    request.peer = peer
    request.deadline = deadline
    // Set in the completion: what the link layers support is reported right after it.
    let client = try await awaitCallback { [self] (done: @escaping (Result<GATTClient, HCIError>) -> Void) in
      central.connect(request) { result in
        if case .success(let client) = result {
          client.onLinkEvent = { [weak self] event in self?.report(event) }
        }
        done(result)
      }
    }
    let unfinished = Termination.note(
      "the link to \(peer) ends by its supervision timeout; until then the device does not advertise")
    client.whenDisconnected { _ in withExtendedLifetime(unfinished) {} }
    note("connected: \(client.parameters.map(\.description) ?? "")")
    return client
  }

  /// Logs a link event. What was asked for on the command line and can't be had is reported in any case.
  private func report(_ event: LinkEvent) {
    switch event {
    case .change(.notSupported), .change(.rejected):
      guard request.preferences != nil else { fallthrough }
      Console.error("halo-raw: \(event)")
    default: note(event.description)
    }
  }

  /// Finds the selected device and connects to it.
  func connect() async throws(Failure) -> GATTClient {
    let (client, name) = try await findAndConnect()
    ringName = name
    return client
  }

  private func findAndConnect() async throws(Failure) -> (client: GATTClient, name: String?) {
    let started = timers.current
    let device = try await find(deadline: request.deadline)
    let rest = max(.seconds(1), request.deadline - (timers.current - started))
    do throws(HCIError) {
      return (try await connect(to: device.address, deadline: rest), device.localName)
    } catch {
      throw Failure(error)
    }
  }

  // MARK: Rings

  /// Opens the selected ring: a known one without a scan, another one after a scan.
  ///
  /// - Parameter identifies: whether the firmware of a new ring is read now; if not, ``identify(_:)`` does it later
  func openRing(identifies: Bool = true) async throws(Failure) -> Ring {
    // Without its note, a recording could not be replayed.
    if let ring = known.only(selector), case let note = SessionNote.ring(ring), note.fits {
      if !isReplay { record(note) }
      if let client = try await connect(toKnown: ring) {
        return try await open(client, name: ring.name, identifies)
      }
    }
    let (client, name) = try await findAndConnect()
    return try await open(client, name: name, identifies)
  }

  /// - Returns: nil if the ring is not found; another ring may be near, or its address may have changed
  private func connect(toKnown ring: KnownRing) async throws(Failure) -> GATTClient? {
    guard let address = ring.bluetoothAddress else { return nil }
    note("known ring \(ring.name ?? "") \(address): connecting without a scan")
    do throws(HCIError) {
      return try await connect(to: address, deadline: min(.seconds(8), request.deadline))
    } catch .peerNotFound {
      note("it was not found; scanning")
      return nil
    } catch {
      throw Failure(error)
    }
  }

  private func open(
    _ client: GATTClient, name: String?, _ identifies: Bool
  ) async throws(Failure) -> Ring {
    let selector = RingSelector.address(client.peer.value, client.peer.kind)
    do throws(RingError) {
      let layout = known.only(selector)?.layout
      let ring = try await Ring.open(client, layout: layout, identifies: identifies)
      ringName = name
      if layout != nil, !ring.isAssumed { note("its handles have moved since; they were discovered again") }
      if ring.isAssumed || identifies { remember(ring) }
      ring.onLayoutChange = { [weak self, weak ring] in
        guard let self, let ring else { return }
        if ring.layout != nil { remember(ring) } else { known.forgetLayout(of: client.peer) }
      }
      follow(clockOf: client.peer)
      try await restoreMeasurements(of: ring)
      return ring
    } catch {
      known.forgetLayout(of: client.peer)
      await client.disconnect()
      throw Failure(error)
    }
  }

  /// Reads the firmware of a ring that was opened without, and stores the ring.
  func identify(_ ring: Ring) async throws(Failure) {
    let isSame = try await ringFailure(await ring.identify())
    if !isSame { remember(ring) }
  }

  private func remember(_ ring: Ring) {
    note("MTU \(ring.client.mtu), firmware \(ring.firmware.firmwareRevision ?? "unknown")")
    known.remember(KnownRing(name: ringName, address: ring.client.peer, layout: ring.layout))
  }

  // MARK: Connecting again

  /// Reconnects to a device, with growing pauses between attempts.
  ///
  /// - Throws: the last failure, when `time` is over
  func reconnect(to peer: BluetoothAddress, within time: Duration) async throws(Failure) -> GATTClient {
    let timers = self.timers
    let deadline = timers.current + time
    var pause = Duration.milliseconds(250)
    while true {
      try await recoverAdapter(within: max(.milliseconds(500), deadline - timers.current))
      let rest = deadline - timers.current
      do throws(HCIError) {
        return try await connect(to: peer, deadline: max(.milliseconds(500), min(.seconds(10), rest)))
      } catch {
        switch error {
        case _ where adapterFailure != nil && timers.current < deadline: continue
        case .peerNotFound, .connectionFailed, .connectionNotEstablished, .notReady:
          guard timers.current + pause < deadline else { throw Failure(.connectionLost, error.description) }
        default: throw Failure(error)
        }
      }
      await timers.sleep(for: pause)
      pause = min(pause * 2, .seconds(8))
    }
  }

  /// Reconnects to a ring and opens it with its known handles.
  func reopen(_ ring: Ring, within time: Duration) async throws(Failure) -> Ring {
    let client = try await reconnect(to: ring.client.peer, within: time)
    return try await ringFailure(await Ring.open(client, layout: ring.layout))
  }
}
