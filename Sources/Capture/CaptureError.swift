import BluetoothCore

/// Why a capture can't be read or written.
public struct CaptureError: Error, Hashable, Sendable {
  public enum Reason: Hashable, Sendable {
    case cannotOpen(String)
    case cannotRead(String)
    case cannotCreate(String)
    case cannotWrite(String)
    case empty
    case notBTSnoop
    case truncatedHeader
    case unsupportedVersion(UInt32)
    case unsupportedDatalink(BTSnoop.Datalink)
    case recordTooLarge(Int)
    case recordLongerThanPacket
  }

  public var reason: Reason
  /// Offset in the file of the record that is damaged, where it is one.
  public var offset: Int?
  /// The file, where it is known.
  public var path: String?

  public init(_ reason: Reason, offset: Int? = nil, path: String? = nil) {
    self.reason = reason
    self.offset = offset
    self.path = path
  }

  func at(path: String) -> CaptureError {
    CaptureError(reason, offset: offset, path: path)
  }
}

extension CaptureError: CustomStringConvertible {
  public var description: String {
    let file = path.map { "\($0): " } ?? ""
    let place = offset.map { " (record at byte \($0))" } ?? ""
    let what =
      switch reason {
      case .cannotOpen(let cause): "cannot open: \(cause)"
      case .cannotRead(let cause): "cannot read: \(cause)"
      case .cannotCreate(let cause): "cannot make the recording: \(cause)"
      case .cannotWrite(let cause): "cannot write the recording: \(cause)"
      case .empty: "the file is empty, so it is no capture"
      case .notBTSnoop: "not a btsnoop capture (it does not begin with \"btsnoop\")"
      case .truncatedHeader: "the file ends within the btsnoop header"
      case .unsupportedVersion(let version): "btsnoop version \(version) is unknown; only 1 exists"
      case .unsupportedDatalink(let datalink):
        "datalink \(datalink.rawValue) can't be replayed; 1002 (HCI with H4 type bytes) can"
      case .recordTooLarge(let length): "a record claims \(length) bytes; the file is damaged"
      case .recordLongerThanPacket:
        "a record claims to hold more bytes than its packet had; the file is damaged"
      }
    return file + what + place
  }
}
