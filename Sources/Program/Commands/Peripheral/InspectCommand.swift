import ATT
import HaloGATT
import HaloBluetoothCore
import HaloViews
import HaloCommandLine

let inspectCommand = CommandSpec(
  name: "inspect", arguments: "[DEVICE]",
  summary: "print the attribute table: services, characteristics, descriptors, values",
  options: [CommonOptions.pageFormat],
  examples: [("halo-raw inspect --adapter virtual", "with the built-in ring")],
  details: "This works with any Bluetooth LE peripheral. Values are read where the peer allows it."
) { invocation in
  try await Session.run(invocation) { session in
    let table = TableReader()
    // The attributes read so far are shown, also if the rest cannot be read.
    defer { table.print(OutputFormat(page: invocation)) }
    session.showsAttributes = true
    try await session.withDevice { connection, _ in
      try await table.read(connection.gatt)
    }
  }
}

/// Reads the attribute table of a device, and prints it.
@BluetoothActor
private final class TableReader {
  private var rows: [(fields: [Field], text: String)] = []
  private var included: [Service] = []
  private var seen: Set<AttributeHandle> = []
  /// Why a service could not be read.
  private var fault: StackError?

  private static let columns = [
    "handle", "kind", "uuid", "name", "end", "value_handle", "properties", "value", "text", "decoded",
  ]

  /// Reads the primary services, then the secondary ones that others include, each once, so that circular includes
  /// end. A service that the peer describes wrongly is left.
  ///
  /// - Throws: after the rest, why a service could not be read
  func read(_ client: GATTClient) async throws(StackError) {
    rows = []
    included = []
    seen = []
    fault = nil
    try await client.exchangeMTU()
    for service in try await client.discoverServices() { try await read(service, of: client) }
    while let service = included.popLast() {
      guard !seen.contains(service.handles.start) else { continue }
      try await read(service, "secondary service", of: client)
    }
    if let fault { throw fault }
  }

  func print(_ format: OutputFormat) {
    var printer = RecordPrinter(format, Self.columns)
    for row in rows { printer.print(row.fields, text: row.text) }
  }

  private func read(
    _ service: Service, _ kind: String = "service", of client: GATTClient
  ) async throws(StackError) {
    seen.insert(service.handles.start)
    row(
      service.handles.start, kind, service.uuid, end: service.handles.end,
      text: "\(service.handles)  \(kind) \(title(service.uuid, isService: true))")
    do throws(StackError) {
      try await readContents(of: service, client)
    } catch {
      // The peer answers wrongly here; its other answers count.
      guard error.isOfOneAttribute else { throw error }
      fault = fault ?? error
      row(
        service.handles.start, "fault", service.uuid, end: service.handles.end, note: error.description,
        text: "  the rest can't be read: \(error)")
    }
  }

  private func readContents(of service: Service, _ client: GATTClient) async throws(StackError) {
    for included in try await client.discoverIncludedServices(of: service) {
      self.included.append(included.service)
      row(
        included.declaration, "include", included.service.uuid, end: included.service.handles.end,
        text:
          "  \(included.declaration)  includes \(title(included.service.uuid, isService: true)) at \(included.service.handles)"
      )
    }
    for characteristic in try await client.discoverCharacteristics(of: service) {
      try await read(characteristic, of: client)
    }
  }

  private func read(_ characteristic: Characteristic, of client: GATTClient) async throws(StackError) {
    let value =
      characteristic.properties.contains(.read)
      ? try await self.value(characteristic.valueHandle, client) : .none
    row(
      characteristic.declaration, "characteristic", characteristic.uuid, end: characteristic.end,
      valueHandle: characteristic.valueHandle, properties: characteristic.properties, value: value,
      text: "  \(characteristic.valueHandle)  \(title(characteristic.uuid))  [\(characteristic.properties)]"
        + shown(value, characteristic.uuid))
    for descriptor in try await client.discoverDescriptors(of: characteristic) {
      let value = try await self.value(descriptor.handle, client)
      row(
        descriptor.handle, "descriptor", descriptor.uuid, value: value,
        text: "    \(descriptor.handle)  \(title(descriptor.uuid))" + shown(value, descriptor.uuid))
    }
  }

  private enum Value {
    case none
    case bytes([UInt8])
    case refused(ATTErrorCode)
  }

  /// Reads a value, or the error code with which the peer refuses it.
  private func value(_ handle: AttributeHandle, _ client: GATTClient) async throws(StackError) -> Value {
    do throws(StackError) {
      return .bytes(try await client.read(handle))
    } catch {
      guard let code = error.attCode else { throw error }
      return .refused(code)
    }
  }

  private func shown(_ value: Value, _ uuid: BluetoothUUID) -> String {
    switch value {
    case .none: ""
    case .bytes(let bytes): "  = \(DecodedValue(bytes, of: uuid).brief)"
    case .refused(let code): "  (\(code))"
    }
  }

  private func title(_ uuid: BluetoothUUID, isService: Bool = false) -> String {
    name(uuid, isService: isService).map { "\(uuid) \($0)" } ?? uuid.description
  }

  private func name(_ uuid: BluetoothUUID, isService: Bool) -> String? {
    isService ? GATTUUID.name(of: uuid) : GATTUUID.attributeName(of: uuid)
  }

  private func row(
    _ handle: AttributeHandle, _ kind: String, _ uuid: BluetoothUUID, end: AttributeHandle? = nil,
    valueHandle: AttributeHandle? = nil, properties: CharacteristicProperties = [], value: Value = .none,
    note: String? = nil, text: String
  ) {
    var bytes: [UInt8]?
    if case .bytes(let found) = value { bytes = found }
    rows.append(
      (
        [
          .number(Int(handle.rawValue)), .text(kind), .text(uuid.description),
          .text(name(uuid, isService: !["characteristic", "descriptor"].contains(kind))),
          .number(end.map { Int($0.rawValue) }), .number(valueHandle.map { Int($0.rawValue) }),
          .list(properties.names), .text(bytes.map { Hex.string($0) }),
          .text(note ?? bytes.map { String(printable: $0) }),
          .text(bytes.flatMap { DecodedValue($0, of: uuid).words }),
        ], text
      ))
  }
}
