extension RingSetting {
  /// The field with a name.
  public func field(_ name: String) throws(SettingError) -> FrameField {
    guard let field = fields.first(where: { $0.name == name }) else {
      throw .unknownField(name, setting: entry.name, has: fields.map(\.name))
    }
    return field
  }

  /// Whether a ring that tells these numbers tells anything; see ``isToldBack``.
  public func isTold(_ numbers: [String: Int]) -> Bool {
    isToldBack || numbers.values.contains { $0 != 0 }
  }

  /// What has to be written so that `changes` come true and the other fields stay as they are.
  ///
  /// Rings leave out what they do not know. An answer of nothing but zeros, and a number that its field can't be, stand
  /// for the usual.
  ///
  /// - Parameter read: what the ring tells
  /// - Throws: `.incomplete` if there is nothing usual, `.value` or `.unknownField` if a change can't be
  public func applying(
    _ changes: [String: Int], to read: [String: Int]
  ) throws(SettingError) -> [String: Int] {
    for (name, number) in changes.sorted(by: { $0.key < $1.key }) {
      let field = try field(name)
      guard field.settable.contains(number) else { throw .value(String(number), field) }
    }
    let usual = defaults
    let isSilent = read.values.allSatisfy { $0 == 0 }
    var result: [String: Int] = [:]
    var missing: [String] = []
    for field in fields {
      let told = isSilent ? nil : read[field.name].flatMap { field.settable.contains($0) ? $0 : nil }
      guard let number = changes[field.name] ?? told ?? usual[field.name], field.settable.contains(number)
      else {
        missing.append(field.name)
        continue
      }
      result[field.name] = number
    }
    guard missing.isEmpty else { throw .incomplete(setting: entry.name, missing: missing) }
    return result
  }
}
