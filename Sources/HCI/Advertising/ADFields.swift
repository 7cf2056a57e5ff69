import BluetoothCore

/// The fields of advertising data for display: a list of AD structures (Core Specification Vol 3, Part C, 11).
/// ``AdvertisingData`` decodes the structures.
struct ADFields: PacketFields {
  private var structures: [Structure] = []

  init() {}

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.items("AD structure", &structures)
  }

  private struct Structure: PacketFields {
    var length: UInt8 = 0
    var type = ADType()
    var value: [UInt8] = []
    var padding: [UInt8] = []

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("AD length", &length, .unit("bytes"))
      guard length > 0 else { return try fields.rest("padding", &padding) }
      try fields.value("type", &type)
      try fields.bytes("value", &value, count: Int(length) - 1)
    }
  }
}

extension FieldVisitor where Self: ~Escapable {
  /// Advertising data preceded by its length; limited to what fits into an event beside the other fields of an extended
  /// report.
  @_lifetime(self: copy self)
  mutating func advertisingData(_ data: inout [UInt8]) throws(Failure) {
    var length = UInt8(clamping: min(data.count, AdvertisingReports.largestData))
    try value("data length", &length, .unit("bytes"))
    try bytes("data", &data, count: Int(length), as: ADFields.self)
  }
}
