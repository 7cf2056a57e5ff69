import BluetoothCore

/// Puts bulk frames together from the notifications in which they arrive (ring reference, 3).
///
/// A frame begins with a header; the notifications after it are bare payload and may begin with the magic
/// byte by chance, so a header is looked for only when no frame is open. What does not fit is counted and
/// dropped.
public struct BulkAssembler: Sendable {
  /// An open frame is given up after so long without a notification.
  public static let silence = Duration.seconds(3)

  /// What came of a notification.
  public enum Result: Hashable, Sendable {
    /// A frame is complete, and its CRC is right.
    case frame(BulkFrame)
    /// Some firmware sends frames of the raw stream here.
    case raw(RingFrame)
    /// More has to come.
    case incomplete
    /// Nothing that could be used; ``BulkAssembler/errors`` counts it.
    case dropped
  }

  /// How often something was wrong, and what.
  public struct Errors: Hashable, Sendable {
    /// Frames whose CRC did not match.
    public var badCRC = 0
    /// Headers that claimed more than ``BulkFrame/maximumPayload``.
    public var tooLong = 0
    /// Frames that were given up because nothing more came.
    public var abandoned = 0
    /// Notifications that neither began a frame nor belonged to one.
    public var stray = 0
    /// Notifications that went on after the end of their frame; the frame itself was used.
    public var overlong = 0

    public init() {}
  }

  public private(set) var errors = Errors()

  private struct Header {
    var id: BulkID
    var length: Int
    var crc: UInt16
  }

  private var open: Header?
  private var payload: [UInt8] = []
  private var lastArrival = Instant.zero

  public init() {}

  /// The frame that is arriving, the payload bytes that are there, and those that it has; nil when none is open.
  public var openFrame: (id: BulkID, received: Int, length: Int)? {
    open.map { ($0.id, payload.count, $0.length) }
  }

  /// When the open frame is to be given up; nil when none is open.
  public var deadline: Instant? { open == nil ? nil : lastArrival + Self.silence }

  /// Takes the value of one notification.
  public mutating func receive(_ bytes: RawSpan, at now: Instant) -> Result {
    abandonIfSilent(at: now)
    lastArrival = now
    if let open { return add(bytes, to: open) }
    if bytes.byte(at: 0) == RingCommand.rawStream.rawValue, let frame = try? RingFrame(parsing: bytes) {
      return .raw(frame)
    }
    return begin(bytes)
  }

  /// Gives up an open frame if its time is over. Whoever keeps timers calls this at ``deadline``.
  public mutating func abandonIfSilent(at now: Instant) {
    guard let deadline, now >= deadline else { return }
    errors.abandoned += 1
    close()
  }

  /// Forgets an open frame: the connection over which it came is gone.
  public mutating func reset() {
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
