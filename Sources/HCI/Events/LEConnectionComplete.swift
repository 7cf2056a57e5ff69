import BluetoothCore

/// A link has come about, or has not (Core Specification Vol 4, Part E, 7.7.65.1 and 7.7.65.10). Which of its
/// three forms a controller sends depends on its age and on the event mask; they tell the same.
public struct LEConnectionComplete: Hashable, Sendable {
  /// The form on the wire.
  public enum Form: Hashable, Sendable {
    /// LE Connection Complete.
    case plain
    /// LE Enhanced Connection Complete, with resolvable private addresses.
    case enhanced
    /// Its version 2, which also names the periodic advertising that the link came from.
    case enhancedV2
  }

  public var form: Form
  /// Where this is an error, only ``role`` and ``peerAddress`` may mean something.
  public var status: HCIErrorCode
  public var handle: ConnectionHandle
  public var role: LERole
  public var peerAddress: BluetoothAddress
  /// The resolvable private address that this side used; nil if none, or not told.
  public var localResolvableAddress: BluetoothAddress?
  /// The resolvable private address that the peer used; nil if none, or not told.
  public var peerResolvableAddress: BluetoothAddress?
  public var interval: ConnectionInterval
  /// How many connection events the peripheral may sleep through.
  public var latency: UInt16
  public var supervisionTimeout: SupervisionTimeout
  public var clockAccuracy: ClockAccuracy
  /// The periodic advertising that this side sent; nil if none, or not told.
  public var advertisingHandle: UInt8?
  /// The periodic advertising that this side received; nil if none, or not told.
  public var syncHandle: UInt16?

  public init(
    form: Form = .plain, status: HCIErrorCode = .success, handle: ConnectionHandle, role: LERole = .central,
    peerAddress: BluetoothAddress, localResolvableAddress: BluetoothAddress? = nil,
    peerResolvableAddress: BluetoothAddress? = nil, interval: ConnectionInterval, latency: UInt16 = 0,
    supervisionTimeout: SupervisionTimeout, clockAccuracy: ClockAccuracy = .ppm500,
    advertisingHandle: UInt8? = nil, syncHandle: UInt16? = nil
  ) {
    self.form = form
    self.status = status
    self.handle = handle
    self.role = role
    self.peerAddress = peerAddress
    self.localResolvableAddress = localResolvableAddress
    self.peerResolvableAddress = peerResolvableAddress
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.clockAccuracy = clockAccuracy
    self.advertisingHandle = advertisingHandle
    self.syncHandle = syncHandle
  }

  public init(parsing reader: inout ByteReader, form: Form) throws(DecodeError) {
    self.form = form
    status = try HCIErrorCode(parsing: &reader)
    handle = try ConnectionHandle(parsing: &reader)
    role = try LERole(parsing: &reader)
    peerAddress = try reader.readAddress()
    if form != .plain {
      localResolvableAddress = try Self.readResolvable(&reader)
      peerResolvableAddress = try Self.readResolvable(&reader)
    }
    interval = try ConnectionInterval(parsing: &reader)
    latency = try reader.readUInt16()
    supervisionTimeout = try SupervisionTimeout(parsing: &reader)
    clockAccuracy = try ClockAccuracy(parsing: &reader)
    if form == .enhancedV2 {
      let advertising = try reader.readUInt8()
      advertisingHandle = advertising == .max ? nil : advertising
      let sync = try reader.readUInt16()
      syncHandle = sync == .max ? nil : sync
    }
  }

  public func write(into writer: inout ByteWriter) {
    status.write(into: &writer)
    handle.write(into: &writer)
    role.write(into: &writer)
    writer.writeAddress(peerAddress)
    if form != .plain {
      let none = BluetoothAddress(0, .random)
      (localResolvableAddress ?? none).write(into: &writer)
      (peerResolvableAddress ?? none).write(into: &writer)
    }
    interval.write(into: &writer)
    writer.write(latency)
    supervisionTimeout.write(into: &writer)
    clockAccuracy.write(into: &writer)
    if form == .enhancedV2 {
      writer.write(advertisingHandle ?? .max)
      writer.write(syncHandle ?? .max)
    }
  }

  /// An address that is all zero stands for none.
  private static func readResolvable(_ reader: inout ByteReader) throws(DecodeError) -> BluetoothAddress? {
    let address = try BluetoothAddress(parsing: &reader, kind: .random)
    return address.value == 0 ? nil : address
  }
}

extension LEConnectionComplete.Form {
  var subevent: LESubevent {
    switch self {
    case .plain: .connectionComplete
    case .enhanced: .enhancedConnectionComplete
    case .enhancedV2: .enhancedConnectionCompleteV2
    }
  }
}
