/// A value that lies in one frame. What a type lists as its ``fields`` is all there is to know: a frame is read and
/// written by them, and the reference and the explanations are made of them.
public protocol FrameRecord: Hashable, Sendable {
  init()
  static var fields: [RecordField<Self>] { get }
}

extension FrameRecord {
  /// Reads a frame. Which command it belongs to is for the caller to know.
  public init(parsing frame: RingFrame) throws(RingFrameError) {
    self.init()
    for field in Self.fields {
      switch field.access {
      case .number(_, let set): try set(&self, field.field.form.read(frame, at: field.field.offset))
      case .bytes(_, let set): set(&self, field.field.range.map(frame.byte(at:)))
      }
    }
  }

  /// Writes all fields into a frame that is zero there.
  func store(in frame: inout RingFrame) {
    for field in Self.fields {
      switch field.access {
      case .number(let get, _): field.field.form.write(get(self), into: &frame, at: field.field.offset)
      case .bytes(let get, _): frame.store(get(self).prefix(field.field.form.width), at: field.field.offset)
      }
    }
  }
}

/// Of a command that says nothing but its name.
public struct NoFields: FrameRecord {
  public static let fields: [RecordField<Self>] = []
  public init() {}
}
