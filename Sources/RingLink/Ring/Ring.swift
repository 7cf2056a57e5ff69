import ATT
import BluetoothCore
import GATTClient
import HCI

/// A connected ring.
///
/// An `async` function returns when its task is cancelled, unless it says otherwise. A request fails when the ring sends
/// nothing of its answer for ``RingExchange/usualSilence``, or for the time that the function gives. Commands without an
/// answer are written before a function returns, within two seconds, also in a cancelled task.
///
/// ```swift
/// let device = try await RingFinder.find(.anyRing, on: central, deadline: .seconds(30))
/// let client = try await central.connect(ConnectionRequest(peer: device.address))
/// let ring = try await Ring.open(client)
/// print(try await ring.battery())
/// ```
@BluetoothActor
public final class Ring {
  public let client: GATTClient
  /// The time of the link.
  public var timers: Timers { client.timers }
  /// The properties that determine the ring's behaviour.
  public internal(set) var firmware = RingFirmware(firmwareRevision: nil, hardwareRevision: nil)
  /// Whether its layout was supplied, and not discovered on this link.
  public private(set) var isAssumed = false
  /// Called for the ring's unsolicited events.
  public var onEvent: ((RingEvent) -> Void)? {
    get { dispatcher.onEvent }
    set { dispatcher.onEvent = newValue }
  }
  /// Called for a frame of the wrong length or with a wrong checksum: its bytes, why it was rejected, and its receive time.
  public var onRejectedFrame: ((RawSpan, RingFrameError, Instant) -> Void)? {
    get { dispatcher.onRejected }
    set { dispatcher.onRejected = newValue }
  }
  /// Called for frames that are not understood.
  public var onUnknownFrame: ((RingFrame) -> Void)? {
    get { dispatcher.onUnknownFrame }
    set { dispatcher.onUnknownFrame = newValue }
  }

  /// Called when ``layout`` has changed: the ring's services were discovered again, or have to be.
  public var onLayoutChange: (() -> Void)?

  let dispatcher: RingDispatcher
  private var commandWrite: Characteristic
  private(set) var commandNotify: Characteristic
  /// The descriptor that enables notifications; nil if it is not known.
  private var configuration: AttributeHandle?
  private var databaseHash: [UInt8]?
  private var start = Start.done
  /// The one that runs, or ran last.
  var measurement: MeasurementSession?
  /// Where bulk frames are written; set once they are needed.
  var bulkWrite: Characteristic?
  /// Where bulk frames are received.
  var bulkNotify: Characteristic?

  /// With a supplied layout, the first frames are sent before the ring has confirmed that it notifies.
  private enum Start {
    /// The frames were sent without response.
    case enabling([RingFrame])
    /// The ring has refused: its characteristics are discovered, and the frames sent again.
    case discovering([RingFrame])
    case done
  }

  init(_ client: GATTClient, write: Characteristic, notify: Characteristic) {
    self.client = client
    commandWrite = write
    commandNotify = notify
    let way = WayOut()
    dispatcher = RingDispatcher(timers: client.timers) { message in
      switch message {
      case .frame(let frame): way.send?(frame)
      case .bulk(let id, let payload): way.sendBulk?(id, payload)
      }
    }
    way.send = { [weak self] frame in self?.send(frame) }
    way.sendBulk = { [weak self] id, payload in self?.sendBulk(id, payload: payload) }
    guardCharacteristics()
    client.whenDisconnected { [weak dispatcher] loss in dispatcher?.close(.disconnected(loss.description)) }
  }

  private func guardCharacteristics() {
    let write = commandWrite.valueHandle
    client.writeGuard = { handle, value, offset in
      Ring.objection(to: value, at: offset, isCommand: handle == write)
    }
    let notify = commandNotify.valueHandle
    client.onServicesChanged = { [weak self] range in
      guard range.contains(notify) || range.contains(write), let self else { return }
      configuration = nil
      dispatcher.close(.gatt(.servicesChanged))
      onLayoutChange?()
    }
  }

  private func send(_ frame: RingFrame) {
    switch start {
    case .enabling(let frames):
      start = .enabling(frames + [frame])
      sendWithoutResponse(frame)
    case .discovering(let frames): start = .discovering(frames + [frame])
    case .done where commandWrite.properties.contains(.write):
      client.post(frame.bytes, to: commandWrite.valueHandle) { [dispatcher] in dispatcher.close(RingError($0))
      }
    case .done: sendWithoutResponse(frame)
    }
  }

  private func sendWithoutResponse(_ frame: RingFrame) {
    client.postWithoutResponse(frame.bytes, to: commandWrite.valueHandle, within: Ring.roomDeadline) {
      [dispatcher] in
      if case .failure(let error) = $0 { dispatcher.close(RingError(error)) }
    }
  }

  /// How long a frame may wait for room on the link.
  static let roomDeadline = Duration.seconds(10)

  /// Why a value must not be written to a ring, even by code that bypasses ``Ring`` and writes through its client.
  private static func objection(to value: [UInt8], at offset: Int?, isCommand: Bool) -> String? {
    if isCommand, offset != nil { return "a ring takes commands in one piece" }
    guard isCommand || value.first == BulkFrame.magic else { return nil }
    return CommandTable.danger(ofWriting: value).map { RingError.dangerous($0).description }
  }

  /// Breaks the reference cycle of a dispatcher whose output closure refers back to it.
  private final class WayOut {
    var send: ((RingFrame) -> Void)?
    var sendBulk: ((BulkID, [UInt8]) -> Void)?
  }
}

extension RingError {
  /// Reports a lost link as such, wherever it was detected.
  init(_ error: GATTError) {
    switch error {
    case .att(.closed(let reason)): self = .disconnected(reason)
    case .cancelled: self = .cancelled
    default: self = .gatt(error)
    }
  }
}

extension Ring {
  /// Opens a peripheral as a ring: MTU, the ring's service and its two characteristics, notifications on, and the
  /// firmware's name. Nothing else is discovered, so that a stream can begin early.
  ///
  /// - Parameters:
  ///   - client: a connected peripheral
  ///   - layout: the handles of an earlier link, which have to be proved by the first answer: the Database Hash, or the
  ///     type of the attribute from which the ring notifies. Nothing is written before that. If they are not true, they
  ///     are discovered. A stream begins after the second round trip. The firmware may have changed:
  ///     ``confirmFirmware()`` checks.
  ///   - isCurrent: whether the layout was in use a moment ago, on a link that was lost; it is not proved again then
  ///   - isStored: whether ``layout`` will be stored; the Database Hash is read then, if the handles are discovered
  /// - Throws: `.notARing` if the service is missing
  public static func open(
    _ client: GATTClient, layout: RingLayout? = nil, isCurrent: Bool = false, isStored: Bool = false
  ) async throws(RingError) -> Ring {
    if let layout, let ring = try await open(client, at: layout, isCurrent: isCurrent) { return ring }
    let found: (write: Characteristic, notify: Characteristic)?
    do throws(GATTError) {
      try await client.exchangeMTU()
      found = try await commandCharacteristics(of: client)
    } catch {
      throw RingError(error)
    }
    guard let found else { throw .notARing(try await client.serviceList()) }
    let ring = Ring(client, write: found.write, notify: found.notify)
    do throws(GATTError) {
      try await ring.listen()
      ring.firmware.firmwareRevision = try await client.text(RingGATT.firmwareRevision)
      if isStored { ring.databaseHash = try await client.databaseHash() }
    } catch {
      throw RingError(error)
    }
    client.keepHandles()
    return ring
  }

  /// - Returns: nil if the layout is not true
  private static func open(
    _ client: GATTClient, at layout: RingLayout, isCurrent: Bool
  ) async throws(RingError) -> Ring? {
    if !isCurrent {
      do throws(GATTError) {
        guard try await client.holds(layout) else { return nil }
      } catch {
        throw RingError(error)
      }
    }
    client.assume(
      [Descriptor(uuid: GATTUUID.clientCharacteristicConfiguration, handle: layout.configuration)],
      of: layout.commandNotify)
    let ring = Ring(client, write: layout.commandWrite, notify: layout.commandNotify)
    ring.firmware.firmwareRevision = layout.firmwareRevision
    ring.databaseHash = layout.databaseHash
    ring.isAssumed = true
    guard isCurrent || !layout.commandWrite.properties.contains(.writeWithoutResponse) else {
      ring.listenWithoutWaiting(layout.configuration)
      return ring
    }
    do throws(GATTError) {
      try await ring.listen()
      return ring
    } catch .att(.refused) {
      client.assume(nil, of: layout.commandNotify)
      return nil
    } catch {
      throw RingError(error)
    }
  }

  private func listen() async throws(GATTError) {
    let dispatcher = self.dispatcher
    configuration = try await client.subscribe(to: commandNotify) { dispatcher.receive($0, at: $1) }
      .configuration
  }

  /// Enables notifications. The next frame follows without waiting for the answer, which makes up for the round trip of
  /// the proof: a server handles them in their order.
  private func listenWithoutWaiting(_ configuration: AttributeHandle) {
    self.configuration = configuration
    start = .enabling([])
    let dispatcher = self.dispatcher
    _ = client.subscribe(to: commandNotify) {
      dispatcher.receive($0, at: $1)
    } completion: { [weak self] result in
      guard let self else { return }
      switch result {
      case .success: start = .done
      // The descriptor alone has moved.
      case .failure(.att(.refused)): discoverAgain()
      case .failure(let error): dispatcher.close(RingError(error))
      }
    }
  }

  /// The layout is not true. The frames that were sent are sent again: the ring has answered none.
  private func discoverAgain() {
    guard case .enabling(let frames) = start else { return }
    start = .discovering(frames)
    configuration = nil
    client.assume(nil, of: commandNotify)
    BluetoothActor.run { [weak self] in
      guard let self else { return }
      do throws(GATTError) {
        guard let found = try await Self.commandCharacteristics(of: client) else {
          throw .notFound("service of a ring any more")
        }
        commandWrite = found.write
        commandNotify = found.notify
        guardCharacteristics()
        try await listen()
      } catch {
        return dispatcher.close(RingError(error))
      }
      isAssumed = false
      databaseHash = nil
      onLayoutChange?()
      guard case .discovering(let frames) = start else { return }
      start = .done
      for frame in frames { send(frame) }
    }
  }

  /// The handles for ``open(_:layout:isCurrent:isStored:)`` on the next link; nil if they are not known.
  public var layout: RingLayout? {
    configuration.map {
      RingLayout(
        commandWrite: commandWrite, commandNotify: commandNotify, configuration: $0,
        firmwareRevision: firmware.firmwareRevision, databaseHash: databaseHash)
    }
  }

  /// Reads the firmware's name, with one round trip.
  ///
  /// - Returns: whether it is the expected one; if not, ``firmware`` is now the actual one, and an earlier layout
  ///   should be discarded
  public func confirmFirmware() async throws(RingError) -> Bool {
    do throws(GATTError) {
      let revision = try await client.text(RingGATT.firmwareRevision)
      client.keepHandles()
      defer { firmware.firmwareRevision = revision }
      return revision == firmware.firmwareRevision
    } catch {
      throw RingError(error)
    }
  }

  private static func commandCharacteristics(
    of client: GATTClient
  ) async throws(GATTError) -> (write: Characteristic, notify: Characteristic)? {
    guard let service = try await client.firstService(RingGATT.commandService) else { return nil }
    let all = try await client.discoverCharacteristics(of: service)
    guard let write = all.first(where: { $0.uuid == RingGATT.commandWrite }),
      let notify = all.first(where: { $0.uuid == RingGATT.commandNotify })
    else { return nil }
    return (write, notify)
  }
}

extension GATTClient {
  /// The text of the first characteristic with a UUID; nil if there is none, or none that can be read.
  func text(_ uuid: BluetoothUUID) async throws(GATTError) -> String? {
    do throws(GATTError) {
      return try await readFirst(uuid: uuid).map { String(printable: $0) }
    } catch .att(.refused) {
      return nil
    }
  }

  /// The text of a characteristic; nil if the peer lists it and will not have it read, as some do.
  func text(of characteristic: Characteristic) async throws(GATTError) -> String? {
    do throws(GATTError) {
      return String(printable: try await read(characteristic))
    } catch .att(.refused) {
      return nil
    }
  }

  fileprivate func serviceList() async throws(RingError) -> [BluetoothUUID] {
    do throws(GATTError) {
      return try await discoverServices().map(\.uuid)
    } catch {
      throw RingError(error)
    }
  }

  /// Whether a layout of an earlier link is true, with one request that changes nothing.
  fileprivate func holds(_ layout: RingLayout) async throws(GATTError) -> Bool {
    if let hash = layout.databaseHash { return try await databaseHash() == hash }
    return try await holds(RingGATT.commandNotify, at: layout.commandNotify.valueHandle)
  }
}
