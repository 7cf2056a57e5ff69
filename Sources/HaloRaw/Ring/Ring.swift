import HaloBluetoothCore
import RingLink

/// A smart ring of the COLMI R02 family, on a connection.
///
/// ```swift
/// try await withRadio { radio in
///   let ring = try await Ring(radio.connect(to: .anyRing))
///   print(try await ring.battery())
///   for try await sample in ring.samples { print(sample.value) }
/// }
/// ```
///
/// The requests are made one after the other. A cancelled task gets `.cancelled`, a lost link is `.linkLost`, and a ring that
/// does not answer is `.timedOut`. A sensor runs while a task iterates over it; several iterations share it, and the last one
/// that ends stops it, by a task that cannot be cancelled.
@BluetoothActor
public final class Ring {
  /// The connection to it, which is kept as long as the ring.
  public nonisolated let connection: Connection

  private let current: CurrentClient
  var client: RingClient { current.client }
  private let rawStream: SharedSource<Received<RawSample>>
  private let heartRate: SharedSource<Received<MeasurementEvent>>
  private var listeners = Feeds<RingEvent>()
  /// Why it answers no more.
  private var end: BluetoothError?

  /// Opens a device as a ring: finds its two characteristics, and turns their notifications on.
  ///
  /// - Throws: `.notSupported` if the device is no ring
  public init(_ connection: Connection) async throws {
    let client = try await connection.ringResult { live throws(RingError) in
      try await RingClient.open(live.link)
    }
    let current = CurrentClient(client)
    self.connection = connection
    self.current = current
    rawStream = .samples(of: current)
    heartRate = .heartRates(of: current)
    attend(client)
    connection.whenOpened { [weak self] live throws(StackError) in
      guard let self else { return }
      let layout = self.client.layout
      let result = try await asResult { () throws(RingError) in
        try await RingClient.open(live.link, layout: layout)
      }
      guard case .success(let next) = result else {
        if case .failure(let error) = result { ended(BluetoothError(error)) }
        return
      }
      current.client = next
      attend(next)
      let now = live.link.timers.now
      rawStream.resume(at: now)
      heartRate.resume(at: now)
    }
    connection.whenEnded { [weak self] error in self?.ended(error) }
  }

  private func attend(_ client: RingClient) {
    client.dispatcher.onEvent = { [weak self] event in self?.listeners.send(event) }
    client.dispatcher.whenClosed { [weak self, weak client] error in
      guard let self, let client, client === self.client else { return }
      closed(BluetoothError(error))
    }
  }

  /// The name of its firmware; nil if it has none.
  public var firmwareRevision: String? { client.firmware.firmwareRevision }

  /// How the ring encodes acceleration; nil where only the samples show it: see ``AccelerometerEncodingDetector``.
  public var accelerometerEncoding: AccelerometerEncoding? { client.firmware.accelerometerEncoding }

  // MARK: Requests

  /// How full the battery is, and whether the ring is on its charger.
  public func battery() async throws -> RingBattery {
    try await connection.ringResult { _ throws(RingError) in try await self.client.battery() }
  }

  /// Sets the ring's clock, by which it stores its data: `setClock(to: .now)`.
  public func setClock(to time: RingTime) async throws {
    _ = try await connection.ringResult { _ throws(RingError) in try await self.client.setClock(to: time) }
  }

  /// Steps, distance and energy of today, by the ring's clock.
  public func today() async throws -> TodayTotals {
    try await connection.ringResult { _ throws(RingError) in try await self.client.today() }
  }

  /// Reads the ring's stored records of one kind, in the order of time.
  ///
  /// - Parameters:
  ///   - kind: the kind of records
  ///   - days: days of the ring's calendar; those without data give nothing
  ///   - now: the time on the ring's clock, as rings count days back from today: `.now` if it was set to that
  /// - Throws: `.notSupported` by rings that do not store it, `.peerMisbehaved` if the answer stayed incomplete
  public func history(
    _ kind: HistoryKind, days: ClosedRange<RingDay>, now: RingTime
  ) async throws -> HistoryRecords {
    try await connection.ringResult { _ throws(RingError) in
      try await self.client.history(kind, days: days, now: now)
    }
  }

  /// Measures once. Rings measure one quantity at a time: another measurement ends this one.
  ///
  /// - **Cancelled**: `.cancelled`; the measurement is stopped.
  ///
  /// - Throws: `.refused` if it ended without a value: the ring is not worn, or on its charger
  public func measure(_ kind: MeasurementKind) async throws -> MeasurementReading {
    try await connection.ringResult { _ throws(RingError) in try await self.client.measure(kind) }
  }

  /// Lets the ring blink, so that it is found.
  public func find() async throws {
    try await connection.ringResult { _ throws(RingError) in try await self.client.perform(CommandTable.find)
    }
  }

  // MARK: Sensors and events

  /// The raw stream: the photoplethysmogram, the light of the oxygen sensor, and the acceleration.
  ///
  /// - **Cancelled**: the iteration ends; with the last one, the light goes out.
  /// - **The link is lost**: `next()` throws `.linkLost`.
  /// - **Misuse**: `.refused` by a ring on its charger.
  public nonisolated var samples: Values<Received<RawSample>> {
    Values(keepingNewest: 1024, counting: { $0.dropped = $1 }) { feed throws(BluetoothError) in
      let leave = try await self.rawStream.listen(feed)
      return { withExtendedLifetime(self) { leave() } }
    }
  }

  /// The heart rate, measured continuously: about one value a second, after some 16 seconds.
  ///
  /// - **Cancelled**: the iteration ends; with the last one, the measurement.
  /// - **The link is lost**: `next()` throws `.linkLost`.
  /// - **Misuse**: `.refused` by a ring that is not worn. Another measurement ends this one.
  public nonisolated var heartRates: Values<Received<MeasurementEvent>> {
    Values(keepingNewest: 256, counting: { $0.dropped = $1 }) { feed throws(BluetoothError) in
      let leave = try await self.heartRate.listen(feed)
      return { withExtendedLifetime(self) { leave() } }
    }
  }

  /// The ring's reports about itself: its battery, touches, alarms, steps.
  ///
  /// - **Cancelled**: the iteration ends.
  /// - **The link is lost**: `next()` throws `.linkLost`.
  public nonisolated var events: Values<RingEvent> {
    Values(keepingNewest: 256) { feed throws(BluetoothError) in
      if let end = self.end { throw end }
      let id = self.listeners.add(feed)
      return { self.listeners.remove(id) }
    }
  }

  /// The link is lost, or the ring has other services than before.
  private func closed(_ error: BluetoothError) {
    guard !connection.core.isMade(after: error) else {
      let now = client.timers.now
      rawStream.interrupt(at: now)
      return heartRate.interrupt(at: now)
    }
    ended(error)
  }

  private func ended(_ error: BluetoothError) {
    guard end == nil else { return }
    end = error
    rawStream.end(error)
    heartRate.end(error)
    listeners.finish(error)
  }
}

/// The ring's client on the link that there is, or on the last one.
@BluetoothActor
private final class CurrentClient {
  var client: RingClient

  init(_ client: RingClient) {
    self.client = client
  }
}

extension SharedSource where Element == Received<RawSample> {
  fileprivate static func samples(of ring: CurrentClient) -> Self {
    Self { gap, deliver, _ throws(BluetoothError) in
      var gap = gap
      do throws(RingError) {
        try await ring.client.startRawStream { sample, time in
          deliver(Received(value: sample, time: time, undecodable: 0, gap: gap.take()))
        }
      } catch {
        throw BluetoothError(error)
      }
    } stop: {
      await ring.client.stopRawStream()
    }
  }
}

extension SharedSource where Element == Received<MeasurementEvent> {
  fileprivate static func heartRates(of ring: CurrentClient) -> Self {
    Self { gap, deliver, end throws(BluetoothError) in
      let events = ring.client.heartRates()
      BluetoothActor.run {
        var gap = gap
        do throws(RingError) {
          var iterator = events.makeAsyncIterator()
          while let (event, time) = try await iterator.next() {
            deliver(Received(value: event, time: time, undecodable: 0, gap: gap.take()))
          }
          end(nil)
        } catch {
          end(BluetoothError(error))
        }
      }
    } stop: {
      await ring.client.stopHeartRates()
    }
  }
}

extension Connection {
  /// The result of a request to the ring at the other end, which is made again on the next link if this one is lost.
  func ringResult<Result>(
    _ work: (CurrentLink) async throws(RingError) -> Result
  ) async throws(BluetoothError) -> Result {
    let result = try await core.perform(repeats: { true }) { live throws(StackError) in
      try await asResult { () throws(RingError) in try await work(live) }
    }
    do throws(RingError) {
      return try result.get()
    } catch {
      throw BluetoothError(error)
    }
  }
}

/// The result of a request to a ring. It throws errors of the link.
@BluetoothActor
private func asResult<Value>(
  _ work: () async throws(RingError) -> Value
) async throws(StackError) -> Result<Value, RingError> {
  do throws(RingError) {
    return .success(try await work())
  } catch .disconnected(let reason) {
    throw .closed(reason)
  } catch .bluetooth(let error) {
    throw error
  } catch {
    return .failure(error)
  }
}
