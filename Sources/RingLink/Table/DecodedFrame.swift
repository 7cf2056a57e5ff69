import HaloBluetoothCore

/// The interpretation of a frame. The live link, `decode`, `raw` and the virtual ring all get it from ``CommandTable``:
/// the command of a frame, its form, whether it refuses, and the values of its fields are determined only there.
package struct DecodedFrame: Hashable, Sendable, CustomStringConvertible {
  /// The command that a ring refuses, and why.
  package struct Refusal: Hashable, Sendable {
    package var command: RingCommand
    package var code: RingErrorCode
  }

  /// A field, its value, and the bytes that contain it.
  package struct Field: Hashable, Sendable {
    package var field: FrameField
    package var value: FrameFieldValue

    package var name: String { field.name }
    /// Counted from the command's byte, which is 0.
    package var range: Range<Int> { field.range }
  }

  package var frame: RingFrame
  /// The command that the frame refuses, and how; nil if it is not a refusal.
  package var refusal: Refusal?
  /// The index of ``entry`` in the table.
  private var row: Int?
  private var place = Place.none

  /// Where ``form`` is. Indices instead of the form and the entry themselves: a meaning is made for each frame.
  enum Place: Hashable, Sendable {
    case none
    case request(Int)
    case reply(Int)
    case refusal
  }

  init(frame: RingFrame, refusal: Refusal? = nil, row: Int?, place: Place = .none) {
    self.frame = frame
    self.refusal = refusal
    self.row = row
    self.place = place
  }

  /// The properties that frames of one meaning share, whatever their values are.
  package struct Kind: Hashable, Sendable {
    package var isRefusal: Bool
    fileprivate var row: Int?
    fileprivate var command: RingCommand
    /// The byte that distinguishes the rows of a command, if no row has it.
    fileprivate var second: UInt8?

    /// The same as ``DecodedFrame/name``.
    package var name: String {
      if let row { return CommandTable.all[row].name }
      guard let second else { return command.description }
      let start = command == .notification ? "\(command)" : "command \(Hex.string(command.rawValue))"
      return "\(start), kind \(Hex.string(second))"
    }
  }

  package var kind: Kind {
    let command = refusal?.command ?? frame.command
    let isUnknownKind = row == nil && refusal == nil && isKnown
    return Kind(
      isRefusal: refusal != nil, row: row, command: command, second: isUnknownKind ? frame.byte(at: 1) : nil)
  }

  /// Whether the table has the command of the frame, or the command that it refuses.
  package var isKnown: Bool { !CommandTable.rows(for: .frame(refusal?.command ?? frame.command)).isEmpty }

  /// The row of the table, for a refusal that of the refused command; nil if the table has none, or if several share the
  /// command and the frame has the form of none.
  package var entry: CommandEntry? { row.map { CommandTable.all[$0] } }

  /// Nil if the frame has none of the known forms of its command.
  package var form: FrameForm? {
    guard let row else { return place == .refusal ? CommandTable.refusalForm : nil }
    return switch place {
    case .none: nil
    case .request(let index): CommandTable.all[row].requests[index]
    case .reply(let index): CommandTable.all[row].replies[index]
    case .refusal: CommandTable.refusalForm
    }
  }

  /// `battery`, `command 0x55`, or `notification, kind 0x55`; for a refusal the name of the refused command.
  package var name: String { kind.name }

  package var fields: [Field] {
    (form?.fields ?? []).map { Field(field: $0, value: $0.value(in: frame)) }
  }

  /// One line: `battery reply: percent 64 %, charging no`.
  package var description: String {
    if let refusal { return "\(name) refused: \(refusal.code)" }
    let title = form.map { $0.name == name ? name : "\(name) \($0.name)" } ?? name
    let fields = self.fields
    guard !fields.isEmpty else { return title }
    return title + ": " + fields.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
  }
}

extension CommandTable {
  /// The meaning of a frame.
  ///
  /// - Parameters:
  ///   - frame: 16 bytes, with a valid checksum
  ///   - isFromRing: requests and answers can be the same to the byte; only the direction distinguishes them
  ///   - pending: the command that was sent and not answered yet, if known
  package static func meaning(
    of frame: RingFrame, isFromRing: Bool, pending: RingCommand? = nil
  ) -> DecodedFrame {
    if isFromRing, let refusal = refusal(frame, pending: pending) {
      return DecodedFrame(frame: frame, refusal: refusal, row: onlyRow(of: refusal.command), place: .refusal)
    }
    for row in rows(for: .frame(frame.command)) {
      let forms = isFromRing ? all[row].replies : all[row].requests
      if let index = forms.firstIndex(where: { $0.matches(frame) }) {
        return DecodedFrame(frame: frame, row: row, place: isFromRing ? .reply(index) : .request(index))
      }
    }
    return DecodedFrame(frame: frame, row: onlyRow(of: frame.command))
  }

  /// The row that a frame of this command belongs to, whatever its form is: nil if several share the command, or if the
  /// bytes that follow it decide.
  static func onlyRow(of command: RingCommand) -> Int? {
    let rows = rows(for: .frame(command))
    return rows.count == 1 && all[rows[0]].prefix.isEmpty ? rows.first : nil
  }

  /// The command that a frame refuses (ring reference, 2): a command without its top bit, set in the answer.
  ///
  /// The top bit alone does not make a refusal. A frame of the raw stream is never a refusal of 0x21. Where firmware
  /// has a command of the same number, the code decides; and if a command is waiting for an answer, the frame refuses
  /// it for any code.
  static func refusal(_ frame: RingFrame, pending: RingCommand?) -> DecodedFrame.Refusal? {
    guard frame.command.rawValue >= 0x80, frame.command != .rawStream else { return nil }
    let command = RingCommand(rawValue: frame.command.rawValue & 0x7F)
    let code = RingErrorCode(rawValue: frame.byte(at: 1))
    guard
      command == pending || code == .notSupported
        || (rows(for: .frame(frame.command)).isEmpty && !rows(for: .frame(command)).isEmpty)
    else { return nil }
    return DecodedFrame.Refusal(command: command, code: code)
  }

  fileprivate static let refusalForm = FrameForm(
    "refusal",
    [
      FrameField(
        "error", at: 1, .uint8,
        words: [
          Int(RingErrorCode.notSupported.rawValue): RingErrorCode.notSupported.description,
          Int(RingErrorCode.malformed.rawValue): RingErrorCode.malformed.description,
        ])
    ])
}

extension RingFrame {
  /// The frame with which a ring refuses a command; nil for numbers with a top bit of their own, which have no such
  /// form.
  package static func refusal(of command: RingCommand, _ code: RingErrorCode = .notSupported) -> RingFrame? {
    guard command.rawValue < 0x80 else { return nil }
    return RingFrame(RingCommand(rawValue: command.rawValue | 0x80), code.rawValue)
  }
}
