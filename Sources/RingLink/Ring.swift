import ATT
import BluetoothCore
import EventLoop
import GATTClient
import HCI

/// A ring that we are connected to.
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
  /// What decides how the ring behaves.
  public private(set) var firmware = RingFirmware(firmwareRevision: nil, hardwareRevision: nil)
  /// Whether its layout was taken as known, and not discovered on this link.
  public private(set) var isAssumed = false
  /// Called for what the ring tells of its own accord.
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
  private let commandWrite: Characteristic
  private let commandNotify: Characteristic
  /// The descriptor that switches notifications on; known once they are.
  private var configuration: AttributeHandle?

  private init(_ client: GATTClient, write: Characteristic, notify: Characteristic) {
    self.client = client
    commandWrite = write
    commandNotify = notify
    let usesResponse = write.properties.contains(.write)
    let failures = WriteFailures()
    dispatcher = RingDispatcher(timers: EventLoop.shared.timers) { frame in
      if usesResponse {
        client.post(frame.bytes, to: write.valueHandle) { failures.report?($0) }
      } else {
        try? client.writeWithoutResponse(frame.bytes, to: write)
      }
    }
    failures.report = { [weak dispatcher] error in dispatcher?.close(RingError(error)) }
    client.onServicesChanged = { [weak dispatcher] range in
      if range.contains(notify.valueHandle) { dispatcher?.close(.gatt(.servicesChanged)) }
    }
    client.whenDisconnected { [weak dispatcher] loss in dispatcher?.close(.disconnected(loss.description)) }
  }

  /// Breaks the circle of a dispatcher whose way out reports back to it.
  private final class WriteFailures {
    var report: ((GATTError) -> Void)?
  }

  /// Makes a ring of a peripheral: MTU, the ring's service and its two characteristics, notifications on, and the
  /// firmware's name. Nothing else is discovered, so that a stream can begin early.
  ///
  /// - Parameter layout: where everything was on an earlier link. Then a single round trip does, and a stream begins
  ///   after the second; if the ring refuses, it is discovered after all. The firmware may be another by now:
  ///   ``confirmFirmware()`` asks.
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

  /// Where everything is, for ``open(_:layout:)`` on the next link.
  public var layout: RingLayout? {
    configuration.map {
      RingLayout(
        commandWrite: commandWrite, commandNotify: commandNotify, configuration: $0,
        firmwareRevision: firmware.firmwareRevision)
    }
  }

  /// Asks for the firmware's name, with one round trip.
  ///
  /// - Returns: whether it is the one that was taken as known; if not, ``firmware`` holds the true one now, and a
  ///   layout of before should be forgotten
  public func confirmFirmware() async throws(RingError) -> Bool {
    do throws(GATTError) {
      let revision = try await client.text(RingGATT.firmwareRevision)
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

  // MARK: Commands

  /// Sends a command and waits for its answer.
  func request(_ frame: RingFrame) async throws(RingError) -> RingFrame {
    try await awaitCallback { (done: @escaping (Result<RingFrame, RingError>) -> Void) in
      dispatcher.request(frame, completion: done)
      return {}
    }
  }

  /// How full the battery is (ring reference, 4.2).
  public func battery() async throws(RingError) -> RingBattery {
    let reply = try await request(RingBattery.request)
    do throws(RingFrameError) {
      return try RingBattery(reply: reply)
    } catch {
      throw .malformed(.battery, error)
    }
  }

  /// What the ring says of itself in its Device Information service.
  public func information() async throws(RingError) -> RingInformation {
    do throws(GATTError) {
      var information = RingInformation()
      guard let service = try await client.firstService(RingGATT.deviceInformationService) else {
        return information
      }
      for characteristic in try await client.discoverCharacteristics(of: service) {
        guard let field = RingInformation.fields[characteristic.uuid] else { continue }
        information[keyPath: field] = try await client.text(of: characteristic)
      }
      firmware = information.revisions
      return information
    } catch {
      throw RingError(error)
    }
  }
}

extension RingError {
  /// A link that was lost is told as such, wherever it was noticed.
  init(_ error: GATTError) {
    switch error {
    case .att(.closed(let reason)): self = .disconnected(reason)
    case .cancelled: self = .cancelled
    default: self = .gatt(error)
    }
  }
}

extension GATTClient {
  /// The text of the first characteristic with a UUID; nil if there is none, or none that can be read.
  fileprivate func text(_ uuid: BluetoothUUID) async throws(GATTError) -> String? {
    do throws(GATTError) {
      return try await read(uuid: uuid, limit: 1).first.map { String(printable: $0.value) }
    } catch .att(.refused) {
      return nil
    }
  }

  /// The text of a characteristic; nil if the peer lists it and will not have it read, as some do.
  fileprivate func text(of characteristic: Characteristic) async throws(GATTError) -> String? {
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

/// Where a ring's attributes are, as discovered on an earlier link, and what proves that they are still there.
public struct RingLayout: Hashable, Sendable {
  public var commandWrite: Characteristic
  public var commandNotify: Characteristic
  /// The Client Characteristic Configuration of ``commandNotify``.
  public var configuration: AttributeHandle
  /// The firmware that had this layout.
  public var firmwareRevision: String?

  public init(
    commandWrite: Characteristic, commandNotify: Characteristic, configuration: AttributeHandle,
    firmwareRevision: String?
  ) {
    self.commandWrite = commandWrite
    self.commandNotify = commandNotify
    self.configuration = configuration
    self.firmwareRevision = firmwareRevision
  }
}

/// The strings of the Device Information service; nil for those that a ring does not have.
public struct RingInformation: Hashable, Sendable {
  public var model: String?
  public var serialNumber: String?
  public var firmwareRevision: String?
  public var hardwareRevision: String?
  public var softwareRevision: String?

  public init() {}

  /// What decides how the ring behaves.
  public var revisions: RingFirmware {
    RingFirmware(firmwareRevision: firmwareRevision, hardwareRevision: hardwareRevision)
  }

  fileprivate static var fields: [BluetoothUUID: WritableKeyPath<RingInformation, String?>] {
    [
      RingGATT.modelNumber: \.model, RingGATT.serialNumber: \.serialNumber,
      RingGATT.firmwareRevision: \.firmwareRevision, RingGATT.hardwareRevision: \.hardwareRevision,
      RingGATT.softwareRevision: \.softwareRevision,
    ]
  }
}
