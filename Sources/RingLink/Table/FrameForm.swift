/// One of the forms that the frames of a command have.
public struct FrameForm: Hashable, Sendable {
  /// A byte that tells this form from the others.
  public struct Mark: Hashable, Sendable {
    public var offset: Int
    public var byte: UInt8
  }

  /// `reading`, `header`, `no data`.
  public var name: String
  /// All of them are there; a frame without is of another form.
  public var marks: [Mark]
  public var fields: [FrameField]

  /// - Parameter bytes: what follows the command's byte in every frame of this form
  public init(_ name: String, startingWith bytes: [UInt8] = [], _ fields: [FrameField] = []) {
    self.name = name
    marks = bytes.enumerated().map { Mark(offset: $0.offset + 1, byte: $0.element) }
    self.fields = fields
  }

  public func matches(_ frame: RingFrame) -> Bool {
    marks.allSatisfy { frame.byte(at: $0.offset) == $0.byte }
  }
}
