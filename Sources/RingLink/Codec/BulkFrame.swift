import HaloBluetoothCore

/// A frame of the bulk characteristics: any number of bytes with an id (ring reference, 3 and 6).
///
/// On the air: 0xBC, id, payload length, CRC-16/MODBUS of the payload, payload; integers little-endian.
package struct BulkFrame: Hashable, Sendable {
  /// The first byte of every bulk frame.
  package static let magic: UInt8 = 0xBC
  /// In bytes.
  package static let headerLength = 6
  /// No ring sends more; a larger claim is taken for noise.
  package static let maximumPayload = 4096

  package let id: BulkID
  package let payload: [UInt8]

  /// A received message, after its CRC was checked.
  init(received id: BulkID, payload: [UInt8]) {
    self.id = id
    self.payload = payload
  }

  /// Its interpretation.
  package func meaning(isFromRing: Bool) -> DecodedBulkFrame {
    CommandTable.meaning(ofBulk: id, payload, isFromRing: isFromRing)
  }

  /// Writes a frame; the only way to make one. Refuses the ids of the firmware update.
  package static func write(
    _ id: BulkID, payload: [UInt8], into writer: inout ByteWriter
  ) throws(BulkFrameError) {
    guard !id.isFirmwareUpdate else { throw .firmwareUpdate(id) }
    guard payload.count <= maximumPayload else { throw .payloadTooLong(payload.count) }
    writer.write(magic)
    writer.write(id.rawValue)
    writer.write(UInt16(payload.count))
    writer.write(CRC16.modbus(payload.span.bytes))
    writer.write(payload)
  }
}

/// Why a bulk frame cannot be created.
package enum BulkFrameError: Error, Hashable, Sendable, CustomStringConvertible {
  case firmwareUpdate(BulkID)
  case payloadTooLong(Int)

  package var description: String {
    switch self {
    case .firmwareUpdate(let id):
      "bulk id \(id.rawValue) belongs to the firmware update and is never sent: it can destroy the ring"
    case .payloadTooLong(let count):
      "a bulk frame takes \(BulkFrame.maximumPayload) bytes of payload, not \(count)"
    }
  }
}

/// The type of a bulk frame. ``CommandTable`` describes each.
package struct BulkID: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral,
  CustomStringConvertible
{
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Sent unsolicited with the answer to a request for sleep.
  package static let nap: BulkID = 0x3E

  /// Ids 1 to 5 overwrite the ring's firmware, and can leave it dead.
  package var isFirmwareUpdate: Bool { (1...5).contains(rawValue) }

  package init(integerLiteral value: UInt8) {
    self.init(rawValue: value)
  }

  package var isKnown: Bool { CommandTable.name(of: self) != nil }

  /// The name in the command table, also of an id that only answers have; `bulk frame, id 0x49` if it has none.
  package var description: String { CommandTable.name(of: self) ?? "bulk frame, id \(Hex.string(rawValue))" }
}

/// CRC-16 with the polynomial 0x8005, reflected, without a final inversion.
package enum CRC16 {
  /// The initial value is 0xFFFF. The bytes `123456789` give 0x4B37 (ring reference, 3).
  package static func modbus(_ bytes: RawSpan) -> UInt16 { reflected(bytes, from: 0xFFFF) }

  /// The initial value is 0, as in files of health software. The bytes `123456789` give 0xBB3D.
  package static func arc(_ bytes: RawSpan) -> UInt16 { reflected(bytes, from: 0) }

  private static func reflected(_ bytes: RawSpan, from initial: UInt16) -> UInt16 {
    var crc = initial
    for index in 0..<bytes.byteCount {
      crc ^= UInt16(bytes.byte(at: index) ?? 0)
      for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0xA001 }
    }
    return crc
  }
}

/// Puts bulk frames together from the notifications in which they arrive (ring reference, 3).
///
/// A frame begins with a header; the notifications after it are bare payload and may begin with the magic byte by chance, so a
/// header is looked for only when no frame is open. Bytes that do not fit are counted and dropped.
package struct BulkAssembler: Sendable {
  /// The timeout after the last notification of an open frame.
  package static let silence = Duration.seconds(3)

  /// The result of a notification.
  package enum Result: Hashable, Sendable {
    /// A frame is complete, and its CRC is right.
    case frame(BulkFrame)
    /// Some firmware sends frames of the raw stream here.
    case raw(RingFrame)
    /// The frame is not complete yet.
    case incomplete
    /// Unusable data; ``BulkAssembler/errors`` counts it.
    case dropped
  }

  /// The number of errors of each kind.
  package struct Errors: Hashable, Sendable {
    /// Frames whose CRC did not match.
    package var badCRC = 0
    /// Headers that claimed more than ``BulkFrame/maximumPayload``.
    package var tooLong = 0
    /// Incomplete frames discarded after a timeout.
    package var abandoned = 0
    /// Notifications that neither began a frame nor belonged to one.
    package var stray = 0
    /// Notifications that extended beyond the end of their frame; the frame was used.
    package var overlong = 0

    package init() {}
  }

  package private(set) var errors = Errors()

  private struct Header {
    var id: BulkID
    var length: Int
    var crc: UInt16
  }

  private var open: Header?
  private var payload: [UInt8] = []
  private var lastArrival = Instant.zero

  package init() {}

  /// The frame that is arriving, the payload bytes that are there, and those that it has; nil when none is open.
  package var openFrame: (id: BulkID, received: Int, length: Int)? {
    open.map { ($0.id, payload.count, $0.length) }
  }

  /// When the open frame times out; nil when none is open.
  package var deadline: Instant? { open == nil ? nil : lastArrival + Self.silence }

  /// Handles the value of one notification.
  package mutating func receive(_ bytes: RawSpan, at now: Instant) -> Result {
    abandonIfSilent(at: now)
    lastArrival = now
    if let open { return add(bytes, to: open) }
    if bytes.byte(at: 0) == RingCommand.rawStream.rawValue, let frame = try? RingFrame(parsing: bytes) {
      return .raw(frame)
    }
    return begin(bytes)
  }

  /// Discards an open frame after its deadline. The owner of the timers calls this at ``deadline``.
  package mutating func abandonIfSilent(at now: Instant) {
    guard let deadline, now >= deadline else { return }
    errors.abandoned += 1
    close()
  }

  /// Discards an open frame: its connection is gone.
  package mutating func reset() {
    close()
  }

  private mutating func begin(_ bytes: RawSpan) -> Result {
    var reader = ByteReader(bytes)
    guard let magic = try? reader.readUInt8(), magic == BulkFrame.magic,
      let id = try? reader.readUInt8(), let length = try? reader.readUInt16(),
      let crc = try? reader.readUInt16()
    else {
      errors.stray += 1
      return .dropped
    }
    guard length <= BulkFrame.maximumPayload else {
      errors.tooLong += 1
      return .dropped
    }
    let header = Header(id: BulkID(rawValue: id), length: Int(length), crc: crc)
    open = header
    return add(reader.readRest(), to: header)
  }

  private mutating func add(_ bytes: RawSpan, to header: Header) -> Result {
    let missing = header.length - payload.count
    let taken = bytes.extracting(0..<Swift.min(missing, bytes.byteCount))
    taken.withUnsafeBytes { payload.append(contentsOf: $0) }
    guard payload.count == header.length else { return .incomplete }
    if bytes.byteCount > missing { errors.overlong += 1 }
    defer { close() }
    guard CRC16.modbus(payload.span.bytes) == header.crc else {
      errors.badCRC += 1
      return .dropped
    }
    return .frame(BulkFrame(received: header.id, payload: payload))
  }

  private mutating func close() {
    open = nil
    payload = []
  }
}
