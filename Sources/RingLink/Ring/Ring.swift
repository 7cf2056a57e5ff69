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
  public internal(set) var isAssumed = false
  /// Called for the ring's unsolicited events.
  public var onEvent: ((RingEvent) -> Void)? {
    get { dispatcher.onEvent }
    set { dispatcher.onEvent = newValue }
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
  var configuration: AttributeHandle?
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
