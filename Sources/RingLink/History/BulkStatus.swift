/// One byte that says how a bulk request went, or that there is nothing (ring reference, 3).
public struct BulkStatus<Request: BulkRequest>: BulkContents {
  /// 0 is all right.
  public var code: UInt8

  public init(code: UInt8 = 0) {
    self.code = code
  }

  public static var replyForm: String { "One byte: 0." }

  public init(payload: [UInt8]) throws(BulkContentsError) {
    guard let code = payload.first else { throw .truncated(offset: 0) }
    guard payload.count == 1 else { throw .value("\(payload.count - 1) bytes too many", offset: 1) }
    guard code == 0 else { throw .status(code) }
    self.code = code
  }

  public var payload: [UInt8] { [code] }
}

/// Asks for what is newer than a time (ring reference, 6).
public struct SinceTime: BulkRequest {
  /// Of the ring's wall clock, since 1970 as if that were UTC; 0 for everything.
  public var seconds: UInt32

  public init(seconds: UInt32) {
    self.seconds = seconds
  }

  public static let form = "A time, u32 LE: seconds since 1970 of the ring's wall clock; 0 for everything."

  public var payload: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: seconds >> ($0 * 8)) } }

  public init?(payload: [UInt8]) {
    guard payload.count == 4 else { return nil }
    seconds = payload.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}

/// The name of the wearer (ring reference, 6).
public struct Nickname: BulkRequest {
  public var name: String

  public init(_ name: String) {
    self.name = name
  }

  public static let form = "`01 01 00`, then the name in UTF-16 LE behind its byte order mark `FF FE`."

  private static let start: [UInt8] = [1, 1, 0, 0xFF, 0xFE]

  public var payload: [UInt8] {
    Self.start + name.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
  }

  public init?(payload: [UInt8]) {
    guard payload.starts(with: Self.start), payload.count % 2 == 1 else { return nil }
    let bytes = payload.dropFirst(Self.start.count)
    let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
      UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8
    }
    name = String(decoding: units, as: UTF16.self)
  }
}
