import HaloBluetoothCore

/// A request without parameters.
package struct NoBulkFields: BulkRequest, PacketFields {
  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {}
}

/// One byte: the status of a bulk request, or the absence of data (ring reference, 3).
package struct BulkStatus<Request: BulkRequest>: BulkContents {
  /// 0 is all right.
  package var code: UInt8 = 0

  package init() {}

  package static var isNothingAByte: Bool { false }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("status", &code, .noted(.plain, "0"))
  }

  package init(payload: [UInt8]) throws(BulkContentsError) {
    try self.init(contents: payload)
    guard code == 0 else { throw .status(code) }
  }

  package func isAll(of request: Request) -> Bool { true }
}

/// Requests the data newer than a time (ring reference, 6).
package struct SinceTime: BulkRequest, PacketFields {
  /// In the ring's wall clock, since 1970 as if that were UTC; 0 for all data.
  package var seconds: UInt32 = 0

  package init() {}

  package init(seconds: UInt32) { self.seconds = seconds }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value(
      "time", &seconds, .noted(.unit("s"), "since 1970 of the ring's wall clock; 0 for everything"))
  }
}

/// The name of the wearer (ring reference, 6).
package struct UserName: BulkRequest {
  package var name: String

  package init(_ name: String) { self.name = name }

  package static let form = "`01 01 00`, then the name in UTF-16 LE behind its byte order mark `FF FE`."

  private static let start: [UInt8] = [1, 1, 0, 0xFF, 0xFE]

  package var payload: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.start)
    for unit in name.utf16 { writer.write(unit) }
    return writer.bytes
  }

  package var explained: [BulkValue] {
    [BulkValue(name: "name", text: name.printable, range: Self.start.count..<payload.count, depth: 0)]
  }

  package init?(payload: [UInt8]) {
    guard payload.starts(with: Self.start), payload.count % 2 == 1 else { return nil }
    let units = Array(payload.dropFirst(Self.start.count)).withReader { reader in
      var units: [UInt16] = []
      while let unit = try? reader.readUInt16() { units.append(unit) }
      return units
    }
    name = String(decoding: units, as: UTF16.self)
  }
}
