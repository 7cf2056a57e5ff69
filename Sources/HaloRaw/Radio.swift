import GAP
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloEventLoop

/// Opens a radio, runs `body` with it, and closes it, whether `body` returns or throws.
///
/// ```swift
/// try await withRadio { radio in
///   let sensor = try await radio.connect(to: .service("180D"))
///   print(try await sensor.read(.batteryLevel))
/// }
/// ```
///
/// - Parameters:
///   - radio: which radio
///   - path: a file that records what goes over the radio, for `halo-raw decode` and `replay`; it must not exist, or be empty
///   - body: the program
/// - Throws: what `body` throws; ``BluetoothError`` if the radio cannot be opened, or the recording is incomplete. When
///   the task is cancelled, `body` is, and the radio is closed: each step of that lasts 5 seconds at most.
public func withRadio<Result>(
  _ radio: RadioSelector = .standard, recordingTo path: String? = nil,
  _ body: (Radio) async throws -> Result
) async throws -> Result {
  let radio = try await Radio.open(radio, recordingTo: path)
  let result: Result
  do {
    // A program that belongs to no actor runs on the loop's thread: nothing then goes from thread to thread, and the time of a
    // replay waits for it.
    result = try await withTaskExecutorPreference(EpollLoop.shared) { try await body(radio) }
  } catch {
    try? await radio.close()
    throw error
  }
  try await radio.close()
  return result
}

/// A radio that scans and connects.
///
/// It is closed by ``close()``, at the end of ``withRadio(_:recordingTo:_:)``, or when nothing uses it any more:
/// connections and iterators keep it.
@BluetoothActor
public final class Radio {
  let central: Central
  private let opened: OpenedAdapter
  private(set) var isClosed = false
  /// Whether it offers services: see ``serve(_:as:maximumConnections:idleLimit:allowing:_:)``.
  var isServing = false
  /// How many advertisements nobody can connect to: see ``advertise(_:every:isExtended:_:)``.
  var beaconCount = 0
  /// Whether it is recovered when it has failed, though nobody waits for that.
  private var isNeeded: Bool { isServing || beaconCount > 0 }
  var adapter: any Adapter { opened.adapter }
  /// The recovery of a radio that has failed, and who waits for it.
  private var recovery: Task<Void, Never>?
  private var waiting = Waiters()

  private init(_ opened: OpenedAdapter, _ central: Central) {
    self.opened = opened
    self.central = central
    central.onFailure = { [weak self] _ in self?.recoverForServer() }
  }

  /// Opens a radio, for a program that keeps it in an object. Others use ``withRadio(_:recordingTo:_:)``.
  ///
  /// - Parameters:
  ///   - radio: which radio
  ///   - path: a file that records what goes over the radio; it must not exist, or be empty
  /// - Throws: `.notFound`, `.notPermitted`, `.radioUnavailable`, `.notSupported`; `.invalidValue` for a text that is no
  ///   radio; `.file` if the recording cannot be made; `.cancelled`
  public static func open(
    _ radio: RadioSelector = .standard, recordingTo path: String? = nil
  ) async throws -> Radio {
    do {
      let specification = try radio.specification()
      let opened =
        if let path { try await specification.open(recordingTo: path) } else {
          try await specification.open()
        }
      return try await start(opened)
    } catch {
      throw BluetoothError(error)
    }
  }

  /// Uses an adapter that is open.
  package static func start(_ opened: OpenedAdapter) async throws(BluetoothError) -> Radio {
    let central = Central(opened.adapter)
    do throws(GAPError) {
      try await central.start()
    } catch {
      try? await release(central, opened)
      throw BluetoothError(error)
    }
    return Radio(opened, central)
  }

  isolated deinit {
    guard !isClosed else { return }
    let (central, opened) = (self.central, self.opened)
    BluetoothActor.run { try? await Self.release(central, opened) }
  }

  /// Ends all links and releases the radio; each step within 5 seconds. Cancelling the task does not cancel this. Another call
  /// does nothing.
  ///
  /// - Throws: `.file` if the recording is incomplete; the radio is released nevertheless
  public func close() async throws {
    guard !isClosed else { return }
    isClosed = true
    recovery?.cancel()
    try await Self.release(central, opened)
  }

  private static func release(_ central: Central, _ opened: OpenedAdapter) async throws(BluetoothError) {
    await central.stop()
    do throws(CaptureError) {
      try await opened.end(within: closingTime)
    } catch {
      throw BluetoothError(error)
    }
  }

  // MARK: Time

  /// The time of the radio: that of the instants in ``Received`` and ``ConnectionEvent``.
  ///
  /// The time of `virtual:fast`, and that of a recording, is virtual: it goes on when the program waits.
  public var now: Instant { central.timers.current }

  /// Waits in the time of the radio.
  ///
  /// - Throws: `.cancelled` when the task is cancelled
  public func sleep(for duration: Duration) async throws {
    await central.timers.sleep(for: duration)
    if Task.isCancelled { throw BluetoothError.cancelled }
  }

  // MARK: Finding

  /// What devices advertise, as soon as it is heard. The radio scans during the iteration; all iterations share one scan.
  ///
  /// The elements have all that is known of their device; a scan response comes after its advertisement, as an element of its
  /// own.
  ///
  /// - **Cancelled**: the iteration ends, and with the last one the scan.
  /// - **The radio fails**: `next()` throws.
  /// - **A radio that is closed**: `next()` throws `.closed`.
  ///
  /// - Parameters:
  ///   - device: which devices
  ///   - capacity: how many elements may wait; after that the oldest are dropped
  public nonisolated func advertisements(
    of device: DeviceSelector = .any, keepingNewest capacity: Int = 256
  ) -> Values<Advertisement> {
    Values(keepingNewest: capacity) { feed throws(BluetoothError) in
      try await self.untilUsable(within: Self.recoveryTime)
      let scan = self.central.scan(filter: device.filter) { [weak self] in
        feed.finish(self?.failure ?? .closed)
      } handler: { advertisement in
        if device.matches(advertisement) { feed.send(advertisement) }
      }
      return {
        // The closure keeps the radio.
        withExtendedLifetime(self) { scan.cancel() }
      }
    }
  }

  /// Listens for a time, and returns the devices that were heard, each once, with all that is known of it. The strongest is the
  /// first.
  ///
  /// Of more than 1024 devices, those that were heard last are returned. A device that changes its address is several.
  ///
  /// - **Cancelled**: `.cancelled`.
  /// - **The radio fails**: throws why.
  /// - **A radio that is closed**: `.closed`.
  ///
  /// - Parameters:
  ///   - device: which devices
  ///   - time: how long to listen
  public func devices(of device: DeviceSelector = .any, within time: Duration) async throws -> [Advertisement]
  {
    try await untilUsable(within: Self.recoveryTime)
    do throws(GAPError) {
      return try await central.devices(within: time, filter: device.filter).filter(device.matches)
    } catch {
      throw isClosed ? BluetoothError.closed : BluetoothError(error)
    }
  }

  // MARK: Connecting

  /// Finds a device and connects to it.
  ///
  /// - **Cancelled**: `.cancelled`; the attempt is withdrawn.
  /// - **The link is lost while it is made**: it is made again, until `limit`.
  /// - **The address of this radio**: `.notSupported`.
  ///
  /// - Parameters:
  ///   - device: which device; of several, the first one that is heard
  ///   - limit: how long it may take
  ///   - reconnection: whether the link is made again when it is lost later: see ``Connection``
  /// - Throws: `.notFound` if the device was not heard in that time, `.timedOut` if it was, and did not answer
  public func connect(
    to device: DeviceSelector, within limit: Duration = .seconds(30),
    reconnect reconnection: Reconnection = .never
  ) async throws -> Connection {
    guard !isClosed else { throw BluetoothError.closed }
    if let address = device.address, address == central.information?.address {
      throw BluetoothError(.notSupported, "\(address) is the address of this radio")
    }
    let maker = LinkMaker(self, device, within: limit, reconnection)
    return Connection(LinkHolder(try await maker.first(), maker, isKept: reconnection != .never))
  }

  // MARK: Failures

  static let recoveryTime = Duration.seconds(30)
  /// Between two recoveries of a radio that serves.
  private static let recoveryPause = Duration.seconds(10)
  /// How long the disk may take to complete a recording.
  private static let closingTime = Duration.seconds(5)

  private var failure: BluetoothError? {
    isClosed ? .closed : central.failure.map { BluetoothError($0) }
  }

  /// Returns when the radio can be used: at once, or when it was recovered.
  func untilUsable(within limit: Duration) async throws(BluetoothError) {
    guard !isClosed else { throw .closed }
    guard let failure else { return }
    recover()
    try await awaitCallback { (done: @escaping (Result<Void, BluetoothError>) -> Void) in
      let wait = waiting.add(done)
      wait.end.expire(after: limit, in: central.timers, with: .failure(failure))
      return { self.waiting.cancel(wait.id) }
    }
  }

  /// A radio that serves is recovered unasked, as its program may wait for others for weeks.
  private func recoverForServer() {
    if isNeeded, !isClosed, central.failure != nil { recover() }
  }

  private func recover() {
    guard recovery == nil else { return }
    recovery = BluetoothActor.run { [weak self, central] in
      var result = Result<Void, BluetoothError>.success(())
      do throws(GAPError) {
        try await central.recover(within: Self.recoveryTime)
      } catch {
        result = .failure(BluetoothError(error))
      }
      self?.recovered(result)
    }
  }

  private func recovered(_ result: Result<Void, BluetoothError>) {
    recovery = nil
    waiting.end(with: isClosed ? .failure(.closed) : result)
    guard isNeeded, let failure = central.failure, LinkKeeper.Fault(failure) != .final else { return }
    central.timers.schedule(after: Self.recoveryPause) { [weak self] in self?.recoverForServer() }
  }
}
