import HaloBluetoothCore

/// Finds the offsets of the status, the connection handle and the address in parameters of fixed size.
struct FieldOffsets: FieldVisitor {
  var status: Int?
  var handle: Int?
  /// Where the first address is.
  private(set) var address: Int?
  /// The number of bytes so far.
  private(set) var offset = 0
  private var writer = ByteWriter()

  /// - Parameter fields: the parameters, all zero; nil if none are declared
  init(of fields: (any PacketFields)?) {
    if var fields { fields.visit(&self) }
  }

  mutating func value<Value: FieldValue>(
    _ name: StaticString, _ value: inout Value, _ style: @autoclosure () -> FieldStyle
  ) {
    if Value.self == HCIErrorCode.self, status == nil, offset == 0 { status = 0 }
    if Value.self == ConnectionHandle.self, handle == nil, offset <= 1 { handle = offset }
    writer.removeAll()
    value.write(into: &writer)
    offset += writer.count
  }

  mutating func bytes(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, _ style: @autoclosure () -> FieldStyle
  ) { offset += count }

  mutating func rest(_ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle) {}

  mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind,
    _ style: @autoclosure () -> FieldStyle
  ) {
    if self.address == nil { self.address = offset }
    offset += 6
  }

  mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item], like prototype: Item
  ) {}

  /// How many bytes are valid if a command or an event has failed: the status, and a connection handle or an address
  /// right behind it (Core Specification Vol 4, Part E, 4.5).
  ///
  /// - Parameter start: where the handle or the address would begin
  func validBytes(behind start: Int) -> Int {
    if handle == start { return start + 2 }
    return address == start ? start + 6 : start
  }

  mutating func check(_ isValid: Bool, _ problem: @autoclosure () -> String) {}
}
