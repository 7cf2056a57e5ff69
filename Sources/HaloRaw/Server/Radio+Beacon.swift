import GAP
import HCI
import HaloBluetoothCore

/// A non-connectable advertisement, while ``Radio/advertise(_:every:isExtended:_:)`` runs.
@BluetoothActor
public final class Beacon {
  private let adapter: any Adapter
  private let set = AdvertisingSet()
  private let status = AdvertisingStatus()
  private let interval: Duration
  private let isExtended: Bool
  private var isOver = false

  init(_ adapter: any Adapter, _ interval: Duration, isExtended: Bool) {
    self.adapter = adapter
    self.interval = interval
    self.isExtended = isExtended
    set.onResult = { [status] error in status.set(error) }
  }

  /// Why it is not sent: the radio refuses it, and is asked again. Nil while it is sent.
  public var advertisingFailure: BluetoothError? { status.refusal.map { BluetoothError($0) } }

  /// Sends other data from now on: a sensor's next value.
  ///
  /// - **Misuse**: data that do not fit are `.invalidValue`, and the earlier data stay; after the end of the beacon: `.closed`.
  public func change(_ data: AdvertisingData) throws {
    guard !isOver else { throw BluetoothError.closed }
    do {
      let advertising = try Advertising(data, kind: .nonConnectable, phys: isExtended ? .le1M : nil)
      try adapter.setAdvertising(try advertising.every(interval), in: set)
    } catch let error as AdvertisingFault {
      throw BluetoothError(.invalidValue, error.description)
    } catch let error as StackError {
      throw BluetoothError(error)
    }
  }

  /// Waits until it is sent.
  func untilSent() async throws(BluetoothError) {
    do throws(StackError) {
      try await status.untilOn(within: AdvertisingStatus.usualLimit, in: adapter.timers)
    } catch {
      throw BluetoothError(error)
    }
  }

  func stop() {
    isOver = true
    set.onResult = nil
    status.clear()
    try? adapter.setAdvertising(nil, in: set)
  }
}

extension Radio {
  /// Sends a non-connectable advertisement for as long as `body` runs: a beacon, or the values of a sensor. `body` begins when
  /// it is sent.
  ///
  /// ```swift
  /// let bthome = BluetoothUUID("FCD2")
  /// let data = { (percent: UInt8) in
  ///   AdvertisingData(localName: "Pi", serviceData: [.init(service: bthome, data: [0x40, 0x01, percent])])
  /// }
  /// try await radio.advertise(data(100)) { beacon in
  ///   try await radio.clock.sleep(for: .seconds(60))
  ///   try await beacon.change(data(99))
  ///   try await radio.clock.sleep(for: .seconds(60))
  /// }
  /// ```
  ///
  /// It is sent beside the advertisement of `serve`, and beside other beacons, where the radio can send several advertisements:
  /// `hci0`, and controllers since Bluetooth 5.
  ///
  /// - **Cancelled**: `body` is cancelled; the advertisement ends.
  /// - **The radio refuses it**: for five seconds before it has begun, `.refused`, and `body` does not run. It is asked again
  ///   later, every ten seconds at least; ``Beacon/advertisingFailure`` has the reason.
  /// - **Misuse**: data that do not fit are `.invalidValue`; `.notPermitted` by a radio that the kernel drives, without
  ///   CAP_NET_ADMIN.
  ///
  /// - Parameters:
  ///   - data: at most 31 bytes when encoded; with extended PDUs, as many as the controller takes, at most 1650
  ///   - interval: the time between two advertisements: 20 ms to 10.24 s. Controllers before Bluetooth 5 take 100 ms at least
  ///   - isExtended: whether to send extended PDUs, which scanners since Bluetooth 5 receive
  ///   - body: the program
  /// - Throws: the errors of `body`; ``BluetoothError`` if nothing can be advertised
  public nonisolated func advertise<Result>(
    _ data: AdvertisingData, every interval: Duration = .milliseconds(100), isExtended: Bool = false,
    _ body: (Beacon) async throws -> Result
  ) async throws -> Result {
    let beacon = try await begin(data, interval, isExtended)
    let result: Result
    do {
      result = try await body(beacon)
    } catch {
      await end(beacon)
      throw error
    }
    await end(beacon)
    return result
  }

  private func begin(
    _ data: AdvertisingData, _ interval: Duration, _ isExtended: Bool
  ) async throws -> Beacon {
    try checkIsHeard()
    try await untilUsable(within: Self.recoveryTime)
    let beacon = Beacon(adapter, interval, isExtended: isExtended)
    try beacon.change(data)
    beaconCount += 1
    do throws(BluetoothError) {
      try await beacon.untilSent()
    } catch {
      end(beacon)
      throw error
    }
    return beacon
  }

  private func end(_ beacon: Beacon) {
    beacon.stop()
    beaconCount -= 1
  }
}
