import HaloBluetoothCore
import HaloCommandLine
import RingLink

/// The measuring side of a heart-rate strap: a ring, while a device requests its heart rate.
@BluetoothActor
final class StrapSource {
  private let server: StrapServer
  private let session: Session
  private let link: ReconnectingLink<RingClient>
  /// Ends a wait for a request of the heart rate, or the measurement when it is not requested any more.
  private var onWanted: (() -> Void)?
  /// Ends a wait for a request of the heart rate, as the link is lost.
  private var onLost: (() -> Void)?

  /// The pause after a measurement that has ended without a heart rate: the ring may not be worn.
  private static let pause = Duration.seconds(10)
  /// How long a ring may send no sample.
  private static let longestSilence = Duration.seconds(5)
  /// From one reading of the battery to the next.
  private static let batteryInterval = Duration.seconds(600)

  init(_ server: StrapServer, _ session: Session, _ link: ReconnectingLink<RingClient>) {
    (self.server, self.session, self.link) = (server, session, link)
    server.onWanted = { [weak self] _ in self?.onWanted?() }
  }

  /// The link to the ring is lost.
  func lost() { server.state.stop() }

  /// Measures with a ring while that is wanted. It ends when the link is lost, or its task is cancelled.
  func run(_ ring: RingClient) async throws {
    ring.connection.whenDisconnected { [weak self] _ in self?.onLost?() }
    if let revision = ring.firmware.firmwareRevision { server.set(firmware: revision) }
    while !Task.isCancelled {
      server.set(battery: try await ring.battery().percent)
      report("waits until somebody wants the heart rate", ring)
      await untilWanted(or: ring)
      // A ring that is gone is noticed by the next reading.
      guard server.isWanted, ring.connection.isConnected, !Task.isCancelled else { continue }
      if try await session.hasCountedStream(ring) {
        report("measures the pulse", ring)
        try await measureBeats(ring)
      } else {
        report("measures the heart rate", ring)
        try await measure(ring)
      }
      server.state.stop()
    }
    throw Failure(RingError.cancelled)
  }

  private func report(_ state: String, _ ring: RingClient) {
    session.status.report(state, of: ring.connection.peer, name: link.name)
  }

  private func untilWanted(or ring: RingClient) async {
    await awaitCallback(unless: server.isWanted || !ring.connection.isConnected) {
      (done: @escaping (Result<Void, Never>) -> Void) in
      onWanted = { done(.success(())) }
      onLost = { done(.success(())) }
      return { done(.success(())) }
    }
    (onWanted, onLost) = (nil, nil)
  }

  /// Takes the light of the counted stream, which shows each beat, and the heart rate that the ring says with it.
  private func measureBeats(_ ring: RingClient) async throws {
    let (finder, timers) = (BeatFinder(of: ring), session.timers)
    finder.report = { [server] mark, _ in
      if case .beat(let beat, let rate) = mark { server.state.take(beat, rate: rate, at: server.now) }
    }
    var counter = PacketCounter()
    var last = timers.current
    do throws(RingError) {
      try await ring.startCountedStream(.green, onRequest: { counter.requestedAgain() }) {
        [server, link] sample, time in
        let step = counter.add(sample)
        guard step.kind != .doubled else { return }
        last = timers.current
        link.dataFlow()
        server.state.take(vital: sample.vital, at: server.now)
        finder.take(sample, packet: step.number, at: time)
      }
    } catch {
      guard case .countedStream(_, let failure) = error else { throw Failure(error) }
      return await pause("\(failure)")
    }
    let batteryDue = timers.current + Self.batteryInterval
    // A ring that sends no more is asked for its battery, and then for samples again.
    while server.isWanted, ring.connection.isConnected, !Task.isCancelled,
      timers.current < min(last + Self.longestSilence, batteryDue)
    {
      await untilUnwanted(or: ring, by: min(last + Self.longestSilence, batteryDue))
    }
    await ring.stopCountedStream()
  }

  private func untilUnwanted(or ring: RingClient, by time: Instant) async {
    await awaitCallback(unless: !server.isWanted || !ring.connection.isConnected) {
      (done: @escaping (Result<Void, Never>) -> Void) in
      let end = OneShot(done)
      end.expire(after: time - session.timers.current, in: session.timers, with: .success(()))
      onWanted = { end(.success(())) }
      onLost = { end(.success(())) }
      return { end(.success(())) }
    }
    (onWanted, onLost) = (nil, nil)
  }

  /// The ring does not measure: it may not be worn.
  private func pause(_ reason: String) async {
    server.state.stop()
    Console.error("halo-raw: no heart rate: \(reason)")
    await session.timers.sleep(for: Self.pause)
  }

  private func measure(_ ring: RingClient) async throws {
    let rates = ring.heartRates()
    onWanted = { rates.stop() }
    var batteryRead = session.timers.current
    var failure: RingError?
    do throws(RingError) {
      for try await (event, _) in rates {
        link.dataFlow()
        server.state.take(event, at: server.now)
        guard session.timers.current - batteryRead >= Self.batteryInterval else { continue }
        batteryRead = session.timers.current
        server.set(battery: try await ring.battery().percent)
      }
    } catch {
      failure = error
    }
    onWanted = nil
    // The light must not stay on when the task was cancelled.
    if ring.connection.isConnected { await ring.stopHeartRates() }
    guard let failure else { return }
    guard case .measurement(_, let reason) = failure else { throw Failure(failure) }
    await pause("\(reason)")
  }
}
