import HCI
import HaloBluetoothCore

extension Central {
  // MARK: Finding

  /// Scans until a device is heard that the program wants, and returns its advertisement. A device whose address is of no known
  /// type is ignored, as nothing can connect to it.
  ///
  /// - Parameters:
  ///   - time: how long to listen
  ///   - filter: which reports are looked at
  ///   - parameters: how often and how long to listen
  ///   - isWanted: whether this is the device; called on the loop for each report that passes the filter, with
  ///     everything known about its device
  /// - Returns: the device; nil if none was heard in that time
  /// - Throws: `.cancelled` when the task is cancelled or the central is stopped; otherwise why the radio has
  ///   failed, or why it does not scan
  package func find(
    within time: Duration, filter: ScanFilter = ScanFilter(), parameters: ScanParameters = .gentle,
    where isWanted: @escaping (Advertisement) -> Bool = { _ in true }
  ) async throws(StackError) -> Advertisement? {
    try await listen(for: time, filter, parameters) { device in
      device.address.kind.isKnown && isWanted(device) ? .some(device) : nil
    } atEnd: { refusal throws(StackError) in
      if let refusal { throw refusal }
      return nil
    }
  }

  /// Scans for a time, and returns the devices that were heard, each once, with everything known about it. The strongest is the
  /// first; those without a strength are the last.
  ///
  /// If there are more than 1024 devices, the last 1024 heard are returned. A device that changes its address is several.
  ///
  /// - Parameters:
  ///   - time: how long to listen
  ///   - filter: which devices are wanted
  ///   - parameters: how often and how long to listen
  /// - Throws: the errors of ``find(within:filter:parameters:where:)``; if devices were heard, the radio scans
  package func devices(
    within time: Duration, filter: ScanFilter = ScanFilter(), parameters: ScanParameters = .gentle
  ) async throws(StackError) -> [Advertisement] {
    var heard = HeardDevices()
    return try await listen(for: time, filter, parameters) { device in
      heard.add(device)
      return nil
    } atEnd: { refusal throws(StackError) in
      let devices = heard.strongestFirst
      if let refusal, devices.isEmpty { throw refusal }
      return devices
    }
  }

  /// How long a device that is waited for is scanned for continuously. That costs power, so it is listened for in 1/8 of the
  /// time after that.
  package static let eagerTime = Duration.seconds(30)

  /// Waits until a device can be connected to: it advertises so, or the adapter has a link to it. It has no deadline, as the
  /// device may come at any time. Other scans and connections go on.
  ///
  /// - Parameters:
  ///   - peer: the device
  ///   - end: until when the scan is continuous; see ``eagerTime``
  /// - Throws: the errors of ``find(within:filter:parameters:where:)``
  package func untilHeard(_ peer: PeerIdentity, eagerUntil end: Instant) async throws(StackError) {
    let peer = PeerIdentity(identity(of: peer.address))
    if adapter.hasLink(to: peer.address) { return }
    // A scan response has no data that are needed here, and costs both ends packets.
    var (eager, gentle) = (ScanParameters.aggressive, ScanParameters.gentle)
    (eager.isActive, gentle.isActive) = (false, false)
    let isWanted = { (device: Advertisement) in device.identity == peer && device.isConnectable }
    let rest = end - timers.current
    if rest > .zero, try await find(within: rest, parameters: eager, where: isWanted) != nil { return }
    while try await find(within: .forever, parameters: gentle, where: isWanted) == nil {}
  }

  /// Scans until `hear` returns a result, or until the time is over.
  ///
  /// - Parameter atEnd: gives the result when the time is over; gets why the radio does not scan as it should, if so
  private func listen<Value: Sendable>(
    for time: Duration, _ filter: ScanFilter, _ parameters: ScanParameters,
    _ hear: @escaping (Advertisement) -> Value?,
    atEnd: @escaping (StackError?) throws(StackError) -> Value
  ) async throws(StackError) -> Value {
    try await awaitCallback { (done: @escaping (Result<Value, StackError>) -> Void) in
      if let failure {
        done(.failure(failure))
        return {}
      }
      let timers = self.timers
      var scan: Scan?
      var timer: Timers.Token?
      let end = OneShot { (result: Result<Value, StackError>) in
        timers.cancel(timer)
        scan.take()?.cancel()
        done(result)
      }
      timer = timers.schedule(after: time) { [weak self] in
        let refusal = self?.scanRefusal
        end(Result { () throws(StackError) in try atEnd(refusal) })
      }
      scan = self.scan(parameters, filter: filter) { [weak self] in
        end(.failure(self?.failure ?? .cancelled))
      } handler: { device in
        if end.isPending, let value = hear(device) { end(.success(value)) }
      }
      // The radio may have failed when it was asked to scan.
      if !end.isPending { scan?.cancel() }
      return { end(.failure(.cancelled)) }
    }
  }
}

/// The devices that were heard, as they were heard last.
private struct HeardDevices {
  private var devices: [Advertisement.ID: Advertisement] = [:]
  private static let capacity = 1024

  /// Adds an advertisement of a device. If there are too many, the one that was silent for longest is removed.
  mutating func add(_ device: Advertisement) {
    if devices[device.id] == nil, devices.count >= Self.capacity,
      let oldest = devices.values.min(by: { $0.lastSeen < $1.lastSeen })
    {
      devices[oldest.id] = nil
    }
    devices[device.id] = device
  }

  /// The strongest device first; of two alike, the one with the lower address.
  var strongestFirst: [Advertisement] {
    devices.values.sorted {
      ($1.lastRSSI ?? .min, $0.address.value) < ($0.lastRSSI ?? .min, $1.address.value)
    }
  }
}
