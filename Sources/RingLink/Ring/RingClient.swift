import ATT
import GAP
import HaloGATT
import HaloBluetoothCore

/// A connected ring.
///
/// An `async` function returns when its task is cancelled, unless it says otherwise. A request fails when the ring sends
/// nothing of its answer for ``RingExchange/usualSilence``, or for the time that the function gives. Commands without an
/// answer are written before a function returns, within two seconds, also in a cancelled task.
///
/// ```swift
/// let device = try await RingFinder.find(.anyRing, on: central, deadline: .seconds(30))
/// let connection = try await central.connect(ConnectionRequest(peer: device.address))
/// let ring = try await Ring.open(connection)
/// print(try await ring.battery())
/// ```
@BluetoothActor
package final class RingClient {
  /// The link to it.
  package let connection: GATTLink
  /// The time of the link.
  package var timers: Timers { connection.timers }
  /// The properties that determine the ring's behaviour.
  package internal(set) var firmware = RingFirmware(firmwareRevision: nil, hardwareRevision: nil)
  /// Whether its layout was supplied, and not discovered on this link.
  package private(set) var isAssumed = false
  /// Called for each stored record that is left out: see ``InvalidRecord``.
  package var onInvalidRecord: ((InvalidRecord) -> Void)?
  /// Called when ``layout`` has changed: the ring's services were discovered again, or have to be.
  package var onLayoutChange: (() -> Void)?

  /// Its messages: the events, unrequested frames, and rejected ones.
  package let dispatcher: RingDispatcher
  private var commandWrite: Characteristic
  private(set) var commandNotify: Characteristic
  /// The descriptor that enables notifications; nil if it is not known.
  private var configuration: AttributeHandle?
  private var databaseHash: [UInt8]?
  private var start = Start.done
  /// Nil until the ring has confirmed that it notifies.
  private var subscription: Subscription?
  /// How often the ring's services have changed during this link.
  private var changeCount = 0
  /// The one that runs, or ran last.
  var measurement: MeasurementSession?
  /// The counted stream that runs.
  var countedStream: CountedStream?
  /// Where bulk frames are written; set once they are needed.
  var bulkWrite: Characteristic?
  /// Where bulk frames are received.
  var bulkNotify: Characteristic?

  /// With a supplied layout, the first frames are sent before the ring has confirmed that it notifies.
  private enum Start {
    /// The frames were sent without response.
    case enabling([RingFrame])
    /// The characteristics are not where they were: they are discovered, and the frames sent afterwards.
    case discovering([RingFrame])
    case done
  }

  /// How often a ring may change its services during a link.
  private static let maximumChanges = 16

  /// The client of its attributes.
  var gatt: GATTClient { connection.gatt }

  init(_ connection: GATTLink, write: Characteristic, notify: Characteristic) {
    self.connection = connection
    commandWrite = write
    commandNotify = notify
    dispatcher = RingDispatcher(timers: connection.timers)
    dispatcher.send = { [weak self] message in
      switch message {
      case .frame(let frame): self?.send(frame)
      case .bulk(let id, let payload): self?.sendBulk(id, payload: payload)
      }
    }
    guardCharacteristics()
    gatt.whenServicesChanged { [weak self] range in
      guard let self, range.contains(commandNotify.valueHandle) || range.contains(commandWrite.valueHandle)
      else { return }
      servicesChanged()
    }
    connection.whenDisconnected { [weak dispatcher] loss in dispatcher?.close(.disconnected(loss.description))
    }
  }

  private func guardCharacteristics() {
    let write = commandWrite.valueHandle
    gatt.writePolicy = { handle, value, offset in
      RingClient.objection(to: value, at: offset, isCommand: handle == write)
    }
  }

  private func send(_ frame: RingFrame) {
    switch start {
    case .enabling(let frames):
      start = .enabling(frames + [frame])
      post(frame.bytes, to: commandWrite, hasResponse: false)
    case .discovering(let frames): start = .discovering(frames + [frame])
    case .done:
      post(frame.bytes, to: commandWrite, hasResponse: commandWrite.properties.contains(.write))
    }
  }

  /// Writes a message. If that fails, the dispatcher is closed.
  func post(_ bytes: [UInt8], to characteristic: Characteristic, hasResponse: Bool) {
    let dispatcher = self.dispatcher
    guard !hasResponse else {
      return gatt.post(bytes, to: characteristic.valueHandle) { dispatcher.close(RingError($0)) }
    }
    gatt.postWithoutResponse(bytes, to: characteristic.valueHandle, within: Self.roomDeadline) {
      if case .failure(let error) = $0 { dispatcher.close(RingError(error)) }
    }
  }

  var confirmsFrames: Bool {
    if case .done = start { commandWrite.properties.contains(.write) } else { false }
  }

  /// How long a message may wait for room on the link.
  private static let roomDeadline = Duration.seconds(10)

  /// Why a value must not be written to a ring, even by code that bypasses ``RingClient`` and writes through its client.
  private static func objection(to value: [UInt8], at offset: Int?, isCommand: Bool) -> String? {
    guard isCommand || value.first == BulkFrame.magic else { return nil }
    // The contents of the parts do not matter: only the ring sees the whole.
    if offset != nil { return "a ring takes commands in one piece" }
    return CommandTable.danger(ofWriting: value).map { RingError.dangerous($0).description }
  }

  /// Opens a peripheral as a ring: MTU, the ring's service and its two characteristics, notifications on. Nothing else is
  /// discovered, so that a stream can begin early.
  ///
  /// - Parameters:
  ///   - connection: the link to it
  ///   - layout: the handles of an earlier link, which have to be proved by the first answer: the Database Hash, or the
  ///     type of the attribute from which the ring notifies. Nothing is written before that. If they are not true, they
  ///     are discovered. A stream begins after the second round trip. The firmware may have changed: ``identify()`` reads
  ///     it.
  ///   - identifies: whether ``firmware`` is read, too, if it is not known from a layout that is true
  /// - Throws: `.notARing` if the service is missing
  package static func open(
    _ connection: GATTLink, layout: RingLayout? = nil, identifies: Bool = true
  ) async throws(RingError) -> RingClient {
    if let layout, let ring = try await open(connection, at: layout) { return ring }
    let gatt = connection.gatt
    _ = try await RingError.of(await gatt.exchangeMTU())
    guard let found = try await RingError.of(await gatt.commandCharacteristics()) else {
      throw .notARing(try await RingError.of(await gatt.discoverServices()).map(\.uuid))
    }
    let ring = RingClient(connection, write: found.write, notify: found.notify)
    try await RingError.of(await ring.listen())
    if identifies { try await ring.identify() }
    return ring
  }

  /// - Returns: nil if the layout is not true
  private static func open(
    _ connection: GATTLink, at layout: RingLayout
  ) async throws(RingError) -> RingClient? {
    let gatt = connection.gatt
    guard try await RingError.of(await gatt.holds(layout)) else { return nil }
    gatt.assume(
      [Descriptor(uuid: GATTUUID.clientCharacteristicConfiguration, handle: layout.configuration)],
      of: layout.commandNotify)
    let ring = RingClient(connection, write: layout.commandWrite, notify: layout.commandNotify)
    ring.firmware.firmwareRevision = layout.firmwareRevision
    ring.databaseHash = layout.databaseHash
    ring.isAssumed = true
    guard !layout.commandWrite.properties.contains(.writeWithoutResponse) else {
      ring.listenWithoutWaiting(layout.configuration)
      gatt.exchangeMTU { _ in }
      return ring
    }
    do throws(StackError) {
      try await ring.listen()
      gatt.exchangeMTU { _ in }
      return ring
    } catch let error where error.code == .refused {
      gatt.assume(nil, of: layout.commandNotify)
      return nil
    } catch {
      throw RingError(error)
    }
  }

  private func listen() async throws(StackError) {
    let dispatcher = self.dispatcher
    subscription = try await gatt.subscribe(
      to: commandNotify, onEnd: { dispatcher.close(RingError($0)) }, sink: { dispatcher.receive($0, at: $1) })
    configuration = subscription?.configuration
  }

  /// Enables notifications. The next frame follows without waiting for the answer, which makes up for the round trip of
  /// the proof: a server handles them in their order.
  private func listenWithoutWaiting(_ configuration: AttributeHandle) {
    self.configuration = configuration
    start = .enabling([])
    let dispatcher = self.dispatcher
    _ = gatt.subscribe(
      to: commandNotify, onEnd: { dispatcher.close(RingError($0)) }, sink: { dispatcher.receive($0, at: $1) },
      completion: { [weak self] result in
        guard let self else { return }
        switch result {
        case .success(let subscription):
          self.subscription = subscription
          start = .done
        // The descriptor alone has moved, or all of them.
        case .failure(let error) where error.code == .refused || error.code == .servicesChanged:
          discoverAgain()
        case .failure(let error): dispatcher.close(RingError(error))
        }
      })
  }

  /// The ring has other services than before, or has them elsewhere.
  private func servicesChanged() {
    changeCount += 1
    configuration = nil
    guard let subscription else { return }
    self.subscription = nil
    // The client would move the subscription, but not the value that is written.
    gatt.drop(subscription)
    discoverAgain()
  }

  /// Discovers the characteristics. Frames that the ring cannot have answered are sent again.
  private func discoverAgain() {
    switch start {
    case .enabling(let frames): start = .discovering(frames)
    case .done: start = .discovering([])
    case .discovering: return
    }
    configuration = nil
    gatt.assume(nil, of: commandNotify)
    onLayoutChange?()
    BluetoothActor.run { [weak self] in
      do throws(StackError) {
        try await self?.discoverUntilCurrent()
      } catch {
        self?.dispatcher.close(RingError(error))
      }
    }
  }

  private func discoverUntilCurrent() async throws(StackError) {
    var seen: Int
    repeat {
      seen = changeCount
      guard seen <= Self.maximumChanges else { throw .servicesChanged }
      do throws(StackError) {
        guard let found = try await gatt.commandCharacteristics() else {
          throw .notFound("service of a ring any more")
        }
        commandWrite = found.write
        commandNotify = found.notify
        guardCharacteristics()
        try await listen()
      } catch {
        // Attributes that were found may have moved since.
        guard seen != changeCount else { throw error }
      }
    } while seen != changeCount
    isAssumed = false
    databaseHash = nil
    onLayoutChange?()
    guard case .discovering(let frames) = start else { return }
    start = .done
    for frame in frames { send(frame) }
  }

  /// The handles for ``open(_:layout:identifies:)`` on the next link; nil if they are not known.
  package var layout: RingLayout? {
    configuration.map {
      RingLayout(
        commandWrite: commandWrite, commandNotify: commandNotify, configuration: $0,
        firmwareRevision: firmware.firmwareRevision, databaseHash: databaseHash)
    }
  }

  /// Reads the firmware's name and, unless there was a ``layout``, the Database Hash: a round trip each.
  ///
  /// - Returns: whether the name is the one of the layout; if not, ``firmware`` is now the actual one, and the layout
  ///   should be stored anew
  @discardableResult
  package func identify() async throws(RingError) -> Bool {
    let revision = try await RingError.of(await gatt.text(RingGATT.firmwareRevision))
    if !isAssumed { databaseHash = try await RingError.of(await gatt.databaseHash()) }
    defer { firmware.firmwareRevision = revision }
    return revision == firmware.firmwareRevision
  }
}

extension RingError {
  /// Reports a lost link as such, wherever it was detected.
  init(_ error: StackError) {
    switch error.code {
    case .closed: self = .disconnected(error.reason)
    case .cancelled: self = .cancelled
    default: self = .bluetooth(error)
    }
  }

  /// The value of an expression, whose ``StackError`` is thrown as an error of the ring.
  @BluetoothActor
  static func of<Value>(
    _ work: @autoclosure @BluetoothActor () async throws(StackError) -> Value
  ) async throws(RingError) -> Value {
    do throws(StackError) { return try await work() } catch { throw RingError(error) }
  }
}
