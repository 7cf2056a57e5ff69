import BluetoothCore

/// Finds the offsets of the status and the connection handle in parameters of fixed size.
struct FieldOffsets: FieldVisitor {
  var status: Int?
  var handle: Int?
  private var offset = 0
  private var writer = ByteWriter()

  init() {}

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

  mutating func rest(
    _ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle
  ) {}

  mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind
  ) { offset += 6 }

  mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item], like prototype: Item
  ) {}

  mutating func check(_ isValid: Bool, _ problem: @autoclosure () -> String) {}
}
