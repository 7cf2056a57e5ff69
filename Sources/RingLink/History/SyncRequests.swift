import HaloBluetoothCore

/// A request without parameters.
public struct NoBulkFields: BulkRequest, BulkRecord {
  public init() {}

  public static let fields: [BulkField<Self>] = []
}

/// One byte: the status of a bulk request, or the absence of data (ring reference, 3).
public struct BulkStatus<Request: BulkRequest>: BulkContents, BulkRecord {
  /// 0 is all right.
  public var code: UInt8 = 0

  public init() {}

  public static var isNothingAByte: Bool { false }

  public static var fields: [BulkField<Self>] { [BulkField("status", \.code, nil, "0")] }

  public init(payload: [UInt8]) throws(BulkContentsError) {
    try self.init(contents: payload)
    guard code == 0 else { throw .status(code) }
  }
}

/// Requests the data newer than a time (ring reference, 6).
public struct SinceTime: BulkRequest, BulkRecord {
  /// In the ring's wall clock, since 1970 as if that were UTC; 0 for all data.
  public var seconds: UInt32 = 0

  public init() {}

  public init(seconds: UInt32) { self.seconds = seconds }

  public static let fields: [BulkField<Self>] = [
    BulkField("time", \.seconds, .seconds, "since 1970 of the ring's wall clock; 0 for everything")
  ]
}

/// The name of the wearer (ring reference, 6).
public struct Nickname: BulkRequest {
  public var name: String

  public init(_ name: String) { self.name = name }

  public static let form = "`01 01 00`, then the name in UTF-16 LE behind its byte order mark `FF FE`."

  private static let start: [UInt8] = [1, 1, 0, 0xFF, 0xFE]

  public var payload: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.start)
    for unit in name.utf16 { writer.write(unit) }
    return writer.bytes
  }

  public var values: [BulkValue] {
    [BulkValue(name: "name", text: name.printable, range: Self.start.count..<payload.count, depth: 0)]
  }

  public init?(payload: [UInt8]) {
    guard payload.starts(with: Self.start), payload.count % 2 == 1 else { return nil }
    let units = Array(payload.dropFirst(Self.start.count)).withReader { reader in
      var units: [UInt16] = []
      while let unit = try? reader.readUInt16() { units.append(unit) }
      return units
    }
    name = String(decoding: units, as: UTF16.self)
  }
}

public final class SyncCommands: CommandGroup {
  static let shared = SyncCommands()

  public let beginSync = BulkQuery<BulkStatus<NoBulkFields>>(
    0x30, "begin sync", "What the vendor's app says before it reads what is stored. Its effect is not known.",
    source: "6 [C]")
  public let nickname = BulkQuery<BulkStatus<Nickname>>(
    0x4A, "nickname", "Tells the ring the name of its wearer.", group: .device, source: "6 [C]")

  var bulkRows: [any BulkRow] { [beginSync, nickname] }
  var entries: [CommandEntry] { bulkRows.map(\.entry) }
}
