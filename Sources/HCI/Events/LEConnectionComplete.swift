import BluetoothCore

/// A link was established, or has failed (Core Specification Vol 4, Part E, 7.7.65.1 and 7.7.65.10). The controller's
/// version and the event mask determine which of three forms it sends; they have the same meaning.
public struct LEConnectionComplete: PacketFields {
  /// The form on the wire.
  public enum Form: Hashable, Sendable {
    /// LE Connection Complete.
    case plain
    /// LE Enhanced Connection Complete, with resolvable private addresses.
    case enhanced
    /// LE Enhanced Connection Complete version 2, which also identifies the periodic advertising that the link resulted
    /// from.
    case enhancedV2
  }

  public var form = Form.plain
  /// If this is an error, only ``role`` and ``peerAddress`` may be valid.
  public var status = HCIErrorCode.success
  public var handle = ConnectionHandle()
  public var role = LERole.central
  public var peerAddress = BluetoothAddress.zero
  /// The resolvable private address that this side used; nil if none, or not reported.
  public var localResolvableAddress: BluetoothAddress?
  /// The resolvable private address that the peer used; nil if none, or not reported.
  public var peerResolvableAddress: BluetoothAddress?
  public var parameters = LinkParameters()
  public var clockAccuracy = ClockAccuracy.ppm500
  /// The periodic advertising that this side sent; nil if none, or not reported.
  public var advertisingHandle: UInt8?
  /// The periodic advertising that this side received; nil if none, or not reported.
  public var syncHandle: UInt16?

  public init() {}

  public init(form: Form) {
    self.form = form
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("role", &role)
    try fields.typedAddress("peer address", type: "peer address type", &peerAddress)
    if form != .plain {
      try fields.optionalAddress("local resolvable private address", &localResolvableAddress)
      try fields.optionalAddress("peer resolvable private address", &peerResolvableAddress)
    }
    try parameters.visit(&fields)
    try fields.value("central clock accuracy", &clockAccuracy)
    if form == .enhancedV2 {
      try fields.value("advertising handle", &advertisingHandle, none: .max)
      try fields.value("sync handle", &syncHandle, none: .max, .hex)
    }
  }
}

extension FieldVisitor where Self: ~Escapable {
  /// A random address; all zero means none.
  @_lifetime(self: copy self)
  fileprivate mutating func optionalAddress(
    _ name: StaticString, _ address: inout BluetoothAddress?
  ) throws(Failure) {
    var present = address ?? BluetoothAddress(0, .random)
    try self.address(name, &present, kind: .random)
    address = present.value == 0 ? nil : present
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
