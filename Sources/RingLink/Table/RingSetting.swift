/// A setting whatever its type: for those who show, save and restore all of them alike.
public protocol RingSetting: Sendable {
  var command: RingCommand { get }
  var entry: CommandEntry { get }
  var readRequest: RingFrame { get }
  /// What it can be set to.
  var fields: [FrameField] { get }
  /// False for what most rings take and do not give back: if it reads as nothing but zeros, that tells nothing.
  var isToldBack: Bool { get }
  /// What its fields are by themselves.
  var defaults: [String: Int] { get }
  func isReadReply(_ frame: RingFrame) -> Bool
  func isWriteReply(_ frame: RingFrame) -> Bool
  /// The fields' numbers in a frame that tells or writes the setting; flags are 0 and 1.
  func numbers(in frame: RingFrame) throws(RingFrameError) -> [String: Int]
  /// - Parameter numbers: by the fields' names; those that are missing are zero
  func writeRequest(_ numbers: [String: Int]) throws(RingFrameError) -> RingFrame
  /// What a ring tells after it was written with a frame.
  func reply(afterWrite frame: RingFrame) throws(RingFrameError) -> RingFrame
  /// What a ring acknowledges a write with.
  var acknowledgement: RingFrame { get }
}

extension Setting: RingSetting {
  public var fields: [FrameField] { Value.fields.map(\.field) }

  public var defaults: [String: Int] { numbers(of: Value()) }

  public func numbers(in frame: RingFrame) throws(RingFrameError) -> [String: Int] {
    guard frame.command == command else { throw .unexpected(frame.command) }
    return numbers(of: try Value(parsing: frame))
  }

  func numbers(of value: Value) -> [String: Int] {
    var numbers: [String: Int] = [:]
    for field in Value.fields {
      if case .number(let get, _) = field.access { numbers[field.field.name] = get(value) }
    }
    return numbers
  }

  func value(of numbers: [String: Int]) throws(RingFrameError) -> Value {
    var value = Value()
    for field in Value.fields {
      if case .number(_, let set) = field.access { try set(&value, numbers[field.field.name] ?? 0) }
    }
    return value
  }

  public func writeRequest(_ numbers: [String: Int]) throws(RingFrameError) -> RingFrame {
    writeRequest(try value(of: numbers))
  }

  public func reply(afterWrite frame: RingFrame) throws(RingFrameError) -> RingFrame {
    guard isWriteReply(frame) else { throw .unexpected(frame.command) }
    return reply(try Value(parsing: frame))
  }

  public var acknowledgement: RingFrame { RingFrame(command) { $0.store(writePrefix, at: 1) } }
}
