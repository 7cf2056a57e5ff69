/// What a frame says, byte by byte, for people.
public struct FrameExplanation: Hashable, Sendable {
  /// A field, what it says, and the bytes that say it.
  public struct Field: Hashable, Sendable {
    public var field: FrameField
    public var value: FrameFieldValue

    public var name: String { field.name }
    /// Counted from the command's byte, which is 0.
    public var range: Range<Int> { field.range }
  }

  /// The row of the table; nil if it has none for this command.
  public var entry: CommandEntry?
  /// `battery`, or `command 0x55`.
  public var name: String
  /// `reply`; nil if the frame is of no form that is known.
  public var form: String?
  public var fields: [Field]
  /// Why the ring refuses the command of this name; nil if it is no refusal.
  public var refusal: RingErrorCode?
}

extension FrameExplanation: CustomStringConvertible {
  /// One line: `battery reply: percent 64 %, charging no`.
  public var description: String {
    if let refusal { return "\(name) refused: \(refusal)" }
    let title = form.map { $0 == name ? name : "\(name) \($0)" } ?? name
    guard !fields.isEmpty else { return title }
    return title + ": " + fields.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
  }
}

extension CommandTable {
  /// What a frame says.
  ///
  /// - Parameter isFromRing: requests and answers can be the same to the byte; only the direction tells them apart
  public static func explanation(of frame: RingFrame, isFromRing: Bool) -> FrameExplanation {
    if isFromRing, let refusal = refusal(frame) { return refusal }
    let entry = entry(of: frame, isFromRing: isFromRing)
    let forms = entry.map { isFromRing ? $0.replies : $0.requests } ?? []
    let form = forms.first { $0.matches(frame) }
    return FrameExplanation(
      entry: entry, name: entry?.name ?? frame.command.description, form: form?.name,
      fields: (form?.fields ?? []).map { .init(field: $0, value: $0.value(in: frame)) })
  }

  /// Some commands have a top bit of their own: only the code tells a refusal from an answer of theirs (ring
  /// reference, 2).
  private static func refusal(_ frame: RingFrame) -> FrameExplanation? {
    let refused = frame.command.refused
    guard frame.isError(for: refused) else { return nil }
    let isOrdinary = entries(for: .frame(frame.command)).isEmpty && !entries(for: .frame(refused)).isEmpty
    guard frame.errorCode == .notSupported || (frame.errorCode == .malformed && isOrdinary) else {
      return nil
    }
    let code = FrameField(
      "error", at: 1, .uint8,
      words: [
        Int(RingErrorCode.notSupported.rawValue): RingErrorCode.notSupported.description,
        Int(RingErrorCode.malformed.rawValue): RingErrorCode.malformed.description,
      ])
    return FrameExplanation(
      entry: entries(for: .frame(refused)).first, name: refused.description, form: "refusal",
      fields: [.init(field: code, value: code.value(in: frame))], refusal: frame.errorCode)
  }
}
