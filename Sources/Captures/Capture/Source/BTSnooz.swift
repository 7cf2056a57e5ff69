import HaloBluetoothCore
import HaloSystem

/// The summary of recent packets that Android keeps in memory and puts into bug reports, called btsnooz: most packets are cut
/// to their first bytes. As a file it is a version byte and the time of the last packet, followed by a zlib stream of records;
/// in the text of `dumpsys bluetooth_manager` it is that in base64 (AOSP, `btif_debug_btsnoop.cc` and `btsnooz.py`).
enum BTSnooz {
  /// Version and time of the last packet, which are not compressed.
  private static let headerLength = 9
  /// Android keeps 256 KiB.
  static let mostBytes = 16 << 20

  /// Whether a file begins like btsnooz: version 1 or 2, a time, and the header of a zlib stream.
  static func isBeginning(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= headerLength + 2, bytes[0] == 1 || bytes[0] == 2 else { return false }
    let check = Int(bytes[headerLength]) << 8 | Int(bytes[headerLength + 1])
    return bytes[headerLength] & 0x0F == 8 && check % 31 == 0
  }

  /// Converts it to a btsnoop file.
  ///
  /// - Returns: nil if it is damaged
  /// - Throws: if zlib can't be loaded
  static func btsnoop(from bytes: [UInt8]) throws(LibraryError) -> [UInt8]? {
    guard isBeginning(bytes), let records = try decompress(bytes) else { return nil }
    let span = bytes.span.bytes
    let lastTime = span.integer(at: 1, as: Int64.self, .little) ?? 0
    guard let list = Self.records(in: records, hasOriginalLength: bytes[0] == 2) else { return nil }
    // Each record has the time since the one before; only that of the last is absolute.
    var time = list.reduce(lastTime) { $0 &- Int64($1.delay) }
    var writer = ByteWriter(capacity: records.count * 3)
    BTSnoop.writeHeader(.h4, into: &writer)
    for record in list {
      time = time &+ Int64(record.delay)
      let packet = [record.type.rawValue] + records[record.payload]
      BTSnoop.writeRecord(
        packet.span.bytes, direction: record.direction, microseconds: time,
        originalLength: max(record.length, length(of: packet)), into: &writer)
    }
    return writer.bytes
  }

  /// The length that a packet states, with its headers: version 1 has no other one. Zero if its header is cut.
  private static func length(of packet: [UInt8]) -> Int {
    let type = HCIPacketType(rawValue: packet[0])
    return type.statedLength(in: packet.span.bytes, at: 0).map { type.headerLength + $0 } ?? 0
  }

  /// zlib's uncompress: decompresses a zlib stream (RFC 1950) that is in memory.
  private typealias Uncompress =
    @convention(c) (
      UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt>, UnsafePointer<UInt8>, UInt
    ) -> Int32

  /// - Returns: nil if the stream is damaged
  private static func decompress(_ bytes: [UInt8]) throws(LibraryError) -> [UInt8]? {
    let uncompress: Uncompress = try LoadedLibrary("libz.so.1").required("uncompress")
    var room = 1 << 20
    while room <= mostBytes {
      var result: Int32 = -1
      let output = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
        var length = UInt(room)
        result = bytes.withUnsafeBufferPointer { source in
          guard let from = source.baseAddress, let to = buffer.baseAddress else { return -1 }
          return uncompress(to, &length, from + headerLength, UInt(source.count - headerLength))
        }
        count = result == 0 ? Int(length) : 0
      }
      if result == 0 { return output }
      room *= 4
    }
    return nil
  }

  private struct Record {
    var type: HCIPacketType
    var direction: CaptureDirection
    /// The packet's length with its type byte, as far as the record states it.
    var length: Int
    /// In microseconds.
    var delay: UInt32
    /// Without the type byte.
    var payload: Range<Int>
  }

  /// - Returns: nil if a record is damaged
  private static func records(in bytes: [UInt8], hasOriginalLength: Bool) -> [Record]? {
    var reader = ByteReader(bytes.span.bytes)
    var records: [Record] = []
    do throws(DecodeError) {
      while !reader.isAtEnd {
        let included = Int(try reader.readUInt16())
        let original = hasOriginalLength ? Int(try reader.readUInt16()) : included
        let delay = try reader.readUInt32()
        guard let (type, direction) = kind(try reader.readUInt8()), included >= 1 else { return nil }
        let start = reader.offset
        try reader.skip(included - 1)
        records.append(
          Record(
            type: type, direction: direction, length: original, delay: delay, payload: start..<reader.offset))
      }
    } catch {
      return nil
    }
    return records
  }

  /// The kinds of packets, as Android's stack numbers them.
  private static func kind(_ number: UInt8) -> (HCIPacketType, CaptureDirection)? {
    switch number {
    case 0x10: (.event, .controllerToHost)
    case 0x11: (.acl, .controllerToHost)
    case 0x12: (.synchronous, .controllerToHost)
    case 0x17: (.isochronous, .controllerToHost)
    case 0x20: (.command, .hostToController)
    case 0x21: (.acl, .hostToController)
    case 0x22: (.synchronous, .hostToController)
    case 0x2D: (.isochronous, .hostToController)
    default: nil
    }
  }
}

/// Finds btsnooz in the text of a bug report, which is handed in piece by piece. The zero bytes of a text in UTF-16, as
/// PowerShell writes it, are ignored.
struct BTSnoozText {
  private static let beginning = Array("--- BEGIN:BTSNOOP_LOG_SUMMARY".utf8)
  /// Base64 of the bytes that Android keeps is a tenth of it.
  private static let mostDigits = 4 << 20

  private enum State {
    /// The number of bytes of ``beginning`` that were the last of the text.
    case searching(Int)
    /// In the line of the beginning.
    case found
    case collecting
  }

  private var state = State.searching(0)
  private var digits: [UInt8] = []
  /// The last summary of the text that was complete: a report can have several, and the last is the latest.
  private(set) var bytes: [UInt8]?

  /// Reads more of the text.
  mutating func read(_ text: UnsafeRawBufferPointer) {
    for byte in text where byte != 0 {
      switch state {
      case .searching(let count):
        if byte == Self.beginning[count] {
          state = count + 1 == Self.beginning.count ? .found : .searching(count + 1)
        } else {
          // The beginning has three hyphens, and no other one.
          state = .searching(byte == UInt8(ascii: "-") ? (count == 3 ? 3 : 1) : 0)
        }
      case .found:
        if byte == UInt8(ascii: "\n") { (state, digits) = (.collecting, []) }
      case .collecting:
        if byte == UInt8(ascii: "-") {
          bytes = Base64.bytes(digits) ?? bytes
          state = .searching(1)
        } else if digits.count < Self.mostDigits, byte > UInt8(ascii: " ") {
          digits.append(byte)
        }
      }
    }
  }
}

/// Base64 (RFC 4648, 4).
enum Base64 {
  /// - Returns: nil if the text is not base64
  static func bytes(_ text: [UInt8]) -> [UInt8]? {
    guard !text.isEmpty, text.count % 4 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var bits: UInt32 = 0
    let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
    for (index, character) in text.dropLast(padding).enumerated() {
      guard let value = value(of: character) else { return nil }
      bits = bits << 6 | value
      if index % 4 > 0 { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(6 - 2 * (index % 4)))) }
    }
    return bytes
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
