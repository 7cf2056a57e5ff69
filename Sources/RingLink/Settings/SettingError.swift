/// Why a setting can't be what somebody wants it to be.
public enum SettingError: Error, Hashable, Sendable {
  /// The setting has no such field; what it has.
  case unknownField(String, setting: String, has: [String])
  /// The field can't be that.
  case value(String, FrameField)
  /// These fields have to be given, too: the ring does not tell what they are, and a setting is written as a whole.
  case incomplete(setting: String, missing: [String])
}

extension SettingError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unknownField(let name, let setting, let fields):
      "\(setting) has no field \"\(name)\"; it has \(fields.joined(separator: ", "))"
    case .value(let text, let field): "\(field.name) can be \(field.choices), not \"\(text)\""
    case .incomplete(let setting, let missing):
      "to write \(setting), \(missing.joined(separator: ", ")) must be given, too: a setting is written as a whole, "
        + "and the ring does not tell what it has"
    }
  }
}
