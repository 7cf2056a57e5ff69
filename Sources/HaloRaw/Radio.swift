import GAP
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloDevices
import HaloSystem

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
///   - path: a file that records the packets of the radio, for `halo-raw decode` and `replay`; it must not exist, or be empty.
///     A recording of a pairing has its keys.
///   - pairing: which pairings are agreed to
///   - body: the program
/// - Throws: the errors of `body`; ``BluetoothError`` if the radio cannot be opened, or the recording is incomplete. When the
///   task is cancelled, `body` is, and the radio is closed: each step of that lasts 5 seconds at most.
public func withRadio<Result>(
  _ radio: RadioSelector = .standard, recordingTo path: String? = nil, pairing: PairingOptions = .bondedOnly,
  _ body: (Radio) async throws -> Result
) async throws -> Result {
  let radio = try await Radio.open(radio, recordingTo: path, pairing: pairing)
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
  nonisolated(unsafe) private let timers: Timers
  let managed: ManagedAdapter
  private let opened: OpenedAdapter
  private(set) var isClosed = false
  /// Whether it offers services: see `serve`.
  var isServing = false {
    didSet { setPolicy() }
  }
  /// The number of non-connectable advertisements: see ``advertise(_:every:isExtended:_:)``.
  var beaconCount = 0 {
    didSet { setPolicy() }
  }
  /// Who wants to know of obstacles: see ``obstacles``.
  var watchers = Feeds<BluetoothError?>() {
    didSet { setPolicy() }
  }
  var adapter: any Adapter { opened.adapter }

  private init(_ opened: OpenedAdapter, _ managed: ManagedAdapter, _ central: Central) {
    (self.opened, self.managed, self.central) = (opened, managed, central)
    timers = central.timers
  }

  /// Opens a radio, for a program that keeps it in an object. Others use ``withRadio(_:recordingTo:_:)``.
  ///
  /// - Parameters:
  ///   - radio: which radio
  ///   - path: a file that records the packets of the radio; it must not exist, or be empty. A recording of a pairing has its
  ///     keys.
  ///   - pairing: which pairings are agreed to
  /// - Throws: `.notFound`, `.notPermitted`, `.radioUnavailable`, `.notSupported`; `.invalidValue` for a text that is no
  ///   radio; `.file` if the recording cannot be made; `.cancelled`
  public static func open(
    _ radio: RadioSelector = .standard, recordingTo path: String? = nil, pairing: PairingOptions = .bondedOnly
  ) async throws -> Radio {
    do {
      let specification = try radio.specification()
      var opening = AdapterOpenOptions()
      opening.security = pairing.host(isReal: specification.isReal)
      let opened =
        if let path { try await specification.open(recordingTo: path, opening) } else {
          try await specification.open(opening)
        }
      return try await start(opened)
    } catch {
      throw BluetoothError(error)
    }
  }

  /// Uses an adapter that is open.
  package static func start(_ opened: OpenedAdapter) async throws(BluetoothError) -> Radio {
    let central = Central(opened.adapter)
    let managed = ManagedAdapter(central, ManagedAdapter.Policy(pause: .seconds(10)))
    do {
      try await managed.start()
      return Radio(opened, managed, central)
    } catch {
      try? await release(managed, opened)
      throw BluetoothError(error)
    }
  }

  isolated deinit {
    guard !isClosed else { return }
    let (managed, opened) = (self.managed, self.opened)
    BluetoothActor.run { try? await Self.release(managed, opened) }
  }

  /// Ends all links and releases the radio; each step within 5 seconds. Cancelling the task does not cancel this. Another call
  /// does nothing.
  ///
  /// - Throws: `.file` if the recording is incomplete; the radio is released nevertheless
  public func close() async throws {
    guard !isClosed else { return }
    isClosed = true
    watchers.finish()
    try await Self.release(managed, opened)
  }

  private static func release(
    _ managed: ManagedAdapter, _ opened: OpenedAdapter
  ) async throws(BluetoothError) {
    await managed.close()
    do throws(CaptureError) {
      try await opened.end(within: closingTime)
    } catch {
      throw BluetoothError(error)
    }
  }

  /// The time of the radio: that of the instants in ``Received`` and ``ConnectionEvent``.
  ///
  /// The time of `virtual:fast`, of a simulated medium, and of a recording is virtual: it goes on when the program waits.
  public nonisolated var clock: RadioClock { RadioClock(timers: timers) }

  // MARK: Finding

  /// The advertisements of devices, as soon as they are heard. The radio scans during the iteration; all iterations share one
  /// scan.
  ///
  /// The elements have all known data of their device; a scan response comes after its advertisement, as an element of its own.
  ///
  /// - **Cancelled**: the iteration ends, and with the last one the scan.
  /// - **The radio fails**: `next()` throws.
  /// - **A radio that is closed**: `next()` throws `.closed`.
  ///
  /// - Parameters:
  ///   - device: which devices
  ///   - options: how to listen
  ///   - capacity: how many elements may wait; after that the oldest are dropped
  public nonisolated func advertisements(
    of device: DeviceSelector = .any, scan options: ScanOptions = ScanOptions(),
    keepingNewest capacity: Int = 256
  ) -> Values<Advertisement> {
    Values(keepingNewest: capacity) { feed throws(BluetoothError) in
      try await self.untilUsable(within: Self.recoveryTime)
      let scan = self.central.scan(ScanParameters(options), filter: device.filter) { [weak self] in
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

  /// Scans for a time, and returns the devices that were heard, each once, with all known data. The strongest is the first.
  ///
  /// Of more than 1024 devices, those that were heard last are returned. A device that changes its address counts as several.
  ///
  /// - **Cancelled**: `.cancelled`.
  /// - **The radio fails**: throws why.
  /// - **A radio that is closed**: `.closed`.
  ///
  /// - Parameters:
  ///   - device: which devices
  ///   - time: how long to listen
  ///   - options: how to listen
  public func devices(
    of device: DeviceSelector = .any, within time: Duration, scan options: ScanOptions = ScanOptions()
  ) async throws -> [Advertisement] {
    try await untilUsable(within: Self.recoveryTime)
    do throws(StackError) {
      let parameters = ScanParameters(options)
      return try await central.devices(within: time, filter: device.filter, parameters: parameters)
        .filter(device.matches)
    } catch {
      throw isClosed ? BluetoothError.closed : BluetoothError(error)
    }
  }

  // MARK: Connecting

  /// Finds a device and connects to it.
  ///
  /// - **Cancelled**: `.cancelled`; the attempt is withdrawn.
  /// - **The radio has a link to the device**, whichever side has made it: it is used. It ends with the last connection that uses
  ///   it, or when the device that has made it ends it.
  /// - **The link is lost while it is made**: it is made again, until `limit`.
  /// - **The address of this radio**: `.notSupported`.
  /// - **An address to which another program of this machine has a link**, on `hciN`: `.refused`, if it keeps it for `limit`.
  ///
  /// - Parameters:
  ///   - device: which device; of several, the first one that is heard
  ///   - limit: how long it may take
  ///   - reconnection: whether the link is made again when it is lost later: see ``Connection``
  ///   - options: the properties of each link
  /// - Throws: `.notFound` if the device was not heard in that time, `.timedOut` if it was, and did not answer; `.refused` if
  ///   the link lacks an option that is required
  public func connect(
    to device: DeviceSelector, within limit: Duration = .seconds(30),
    reconnect reconnection: Reconnection = .never, options: LinkOptions = LinkOptions()
  ) async throws -> Connection {
    guard !isClosed else { throw BluetoothError.closed }
    try options.check()
    if let address = device.address, address == central.information?.address {
      throw BluetoothError(.notSupported, "\(address) is the address of this radio")
    }
    let establisher = LinkEstablisher(self, device, within: limit, reconnection, options)
    do throws(StackError) {
      let link = try await establisher.first()
      return Connection(ConnectionCore(link, establisher, isKept: reconnection != .never))
    } catch {
      throw BluetoothError(error)
    }
  }

  // MARK: Failures

  static let recoveryTime = Duration.seconds(30)
  /// How long the disk may take to complete a recording.
  private static let closingTime = Duration.seconds(5)

  var failure: BluetoothError? {
    isClosed ? .closed : central.failure.map { BluetoothError($0) }
  }

  /// - Throws: `.notSupported` for a radio whose advertisements no other device can hear
  func checkIsHeard() throws(BluetoothError) {
    guard opened.isAlone else { return }
    throw BluetoothError(
      .notSupported,
      "nobody can hear the radio \"virtual\", whose air has its ring alone; use virtual:air=NAME")
  }

  /// Returns when the radio can be used: at once, or when it was recovered.
  func untilUsable(within limit: Duration) async throws(BluetoothError) {
    guard !isClosed else { throw .closed }
    do throws(StackError) {
      try await managed.untilUsable(within: limit)
    } catch {
      throw isClosed ? .closed : BluetoothError(error)
    }
  }

  /// A radio that serves is recovered unasked, as its program may wait for others for weeks; and one that is watched.
  private func setPolicy() {
    managed.policy.isNeededWhileIdle = !isClosed && (isServing || beaconCount > 0 || !watchers.isEmpty)
  }
}
