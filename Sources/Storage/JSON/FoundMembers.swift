/// Members of what another process or a file says: any may be missing, or of another type.
extension JSONValue {
  /// A member of an object; nil if there is none.
  package func found(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  /// The value of a member of an object; nil if there is none of this type.
  package func found<Value: JSONDecodable>(_ name: String, as type: Value.Type) -> Value? {
    (try? optionalMember(name)) ?? nil
  }
}
