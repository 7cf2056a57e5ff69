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

  let dispatcher: RingDispatcher
  let commandWrite: Characteristic
  let commandNotify: Characteristic
  /// The descriptor that enables notifications; set once they are enabled.
  private var configuration: AttributeHandle?
  /// The one that runs, or ran last.
  var measurement: MeasurementSession?
  /// Where bulk frames are written; set once they are needed.
  var bulkWrite: Characteristic?
  /// Where bulk frames are received.
  var bulkNotify: Characteristic?

  init(_ client: GATTClient, write: Characteristic, notify: Characteristic) {
    self.client = client
    commandWrite = write
    commandNotify = notify
    let usesResponse = write.properties.contains(.write)
    let way = WayOut()
    let timers = client.timers
    dispatcher = RingDispatcher(timers: timers) { message in
      switch message {
      case .frame(let frame) where usesResponse:
        client.post(frame.bytes, to: write.valueHandle) { way.fail?($0) }
      case .frame(let frame):
        client.postWithoutResponse(frame.bytes, to: write.valueHandle, within: Ring.roomDeadline) {
          if case .failure(let error) = $0 { way.fail?(error) }
        }
      case .bulk(let id, let payload): way.sendBulk?(id, payload)
      }
    }
    way.fail = { [weak dispatcher] error in dispatcher?.close(RingError(error)) }
    way.sendBulk = { [weak self] id, payload in self?.sendBulk(id, payload: payload) }
    client.writeGuard = { handle, value, offset in
      Ring.objection(to: value, at: offset, isCommand: handle == write.valueHandle)
    }
    client.onServicesChanged = { [weak dispatcher] range in
      if range.contains(notify.valueHandle) || range.contains(write.valueHandle) {
        dispatcher?.close(.gatt(.servicesChanged))
      }
    }
    client.whenDisconnected { [weak dispatcher] loss in dispatcher?.close(.disconnected(loss.description)) }
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
    var fail: ((GATTError) -> Void)?
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
  ///   - layout: the handles of an earlier link. With it a single round trip is enough, and a stream begins
  ///     after the second; if the ring refuses, the handles are discovered. The firmware may have changed:
  ///     ``confirmFirmware()`` checks.
  /// - Throws: `.notARing` if the service is missing
  public static func open(_ client: GATTClient, layout: RingLayout? = nil) async throws(RingError) -> Ring {
    if let layout, let ring = try await open(client, at: layout) { return ring }
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
    } catch {
      throw RingError(error)
    }
    client.keepHandles()
    return ring
  }

  /// - Returns: nil if the ring refuses: then the layout is not true
  private static func open(_ client: GATTClient, at layout: RingLayout) async throws(RingError) -> Ring? {
    client.assume(
      [Descriptor(uuid: GATTUUID.clientCharacteristicConfiguration, handle: layout.configuration)],
      of: layout.commandNotify)
    let ring = Ring(client, write: layout.commandWrite, notify: layout.commandNotify)
    ring.firmware.firmwareRevision = layout.firmwareRevision
    ring.isAssumed = true
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

  /// The handles for ``open(_:layout:)`` on the next link.
  public var layout: RingLayout? {
    configuration.map {
      RingLayout(
        commandWrite: commandWrite, commandNotify: commandNotify, configuration: $0,
        firmwareRevision: firmware.firmwareRevision)
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
}
