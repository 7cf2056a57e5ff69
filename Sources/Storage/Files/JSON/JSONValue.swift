/// A JSON value (RFC 8259).
package enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int)
  /// A number with a fraction or an exponent, or outside the range of `Int`.
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// An object without the members that are nil.
  package static func members(_ members: [String: JSONValue?]) -> JSONValue {
    .object(members.compactMapValues(\.self))
  }

  /// Reads a member of an object.
  ///
  /// - Throws: the error with the member's name
  package func member<Value: JSONDecodable>(
    _ name: String, as type: Value.Type = Value.self
  ) throws(JSONError) -> Value {
    guard let value: Value = try optionalMember(name) else { throw .missing(path: [name]) }
    return value
  }

  /// Reads a member of an object; nil if it is missing or null.
  ///
  /// - Throws: the error with the member's name
  package func optionalMember<Value: JSONDecodable>(
    _ name: String, as type: Value.Type = Value.self
  ) throws(JSONError) -> Value? {
    guard case .object(let members) = self else { throw .wrongKind(path: []) }
    guard let value = members[name], value != .null else { return nil }
    return try Value(value, in: name)
  }
}

/// The mismatch of a value with the one that a program expects.
package enum JSONError: Error, Hashable, CustomStringConvertible, Sendable {
  /// The text is not JSON from this byte on.
  case malformed(offset: Int)
  /// A member is missing, given with the names of the members that lead to it.
  case missing(path: [String])
  /// A member has another type, or a number is out of range.
  case wrongKind(path: [String])

  package var description: String {
    switch self {
    case .malformed(let offset): "it is not JSON at byte \(offset)"
    case .missing(let path): "\"\(path.last ?? "")\" is missing\(Self.place(path.dropLast()))"
    case .wrongKind(let path): "the wrong kind of value\(Self.place(path[...]))"
    }
  }

  private static func place(_ path: ArraySlice<String>) -> String {
    path.isEmpty ? "" : " at " + path.joined(separator: ".")
  }

  /// The same error of a value inside of a member.
  fileprivate func inside(_ name: String) -> JSONError {
    switch self {
    case .malformed: self
    case .missing(let path): .missing(path: [name] + path)
    case .wrongKind(let path): .wrongKind(path: [name] + path)
    }
  }
}

/// A value that can be read from JSON.
package protocol JSONDecodable {
  init(_ json: JSONValue) throws(JSONError)
}

extension JSONDecodable {
  /// Reads a value whose errors contain the name that it has.
  fileprivate init(_ json: JSONValue, in name: String) throws(JSONError) {
    do throws(JSONError) { self = try Self(json) } catch { throw error.inside(name) }
  }
}

extension Bool: JSONDecodable {
  package init(_ json: JSONValue) throws(JSONError) {
    guard case .bool(let value) = json else { throw .wrongKind(path: []) }
    self = value
  }
}

extension String: JSONDecodable {
  package init(_ json: JSONValue) throws(JSONError) {
    guard case .string(let value) = json else { throw .wrongKind(path: []) }
    self = value
  }
}

/// A whole number. One with a fraction or out of range is an error.
extension JSONDecodable where Self: FixedWidthInteger {
  package init(_ json: JSONValue) throws(JSONError) {
    guard case .integer(let value) = json, let number = Self(exactly: value) else {
      throw .wrongKind(path: [])
    }
    self = number
  }
}

extension Int: JSONDecodable {}
extension UInt8: JSONDecodable {}
extension UInt16: JSONDecodable {}
extension UInt32: JSONDecodable {}

extension Array: JSONDecodable where Element: JSONDecodable {
  package init(_ json: JSONValue) throws(JSONError) {
    guard case .array(let items) = json else { throw .wrongKind(path: []) }
    self = []
    for (index, item) in items.enumerated() { append(try Element(item, in: "\(index)")) }
  }
}

extension Dictionary: JSONDecodable where Key == String, Value: JSONDecodable {
  package init(_ json: JSONValue) throws(JSONError) {
    guard case .object(let members) = json else { throw .wrongKind(path: []) }
    self = [:]
    for (name, member) in members { self[name] = try Value(member, in: name) }
  }
}

/// Members of the text of another process or a file: any may be missing, or of another type.
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

  /// The value as text for people to read and edit: an entry a line, two spaces for each level, members sorted by name.
  package var text: String {
    var text = ""
    write(to: &text, indentation: "\n")
    return text
  }

  /// The value as one line, for programs; members sorted by name.
  package var line: String {
    var text = ""
    write(to: &text, indentation: nil)
    return text
  }

  /// A string in quotes, with its escapes.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// - Parameter indentation: a line break and the spaces of this level; nil for one line
  private func write(to text: inout String, indentation: String?) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += "\(value)"
    case .number(let value): text += "\(value)"
    case .string(let value): text += Self.quoted(value)
    case .array(let items):
      Self.write(items, "[", "]", to: &text, indentation) { $0.write(to: &$1, indentation: $2) }
    case .object(let members):
      Self.write(members.sorted { $0.key < $1.key }, "{", "}", to: &text, indentation) {
        member, text, inner in
        text += Self.quoted(member.key) + (inner == nil ? ":" : " : ")
        member.value.write(to: &text, indentation: inner)
      }
    }
  }

  private static func write<Entry>(
    _ entries: [Entry], _ start: String, _ end: String, to text: inout String, _ indentation: String?,
    entry write: (Entry, inout String, _ indentation: String?) -> Void
  ) {
    let inner = entries.isEmpty ? "" : indentation.map { $0 + "  " } ?? ""
    text += start
    for (index, entry) in entries.enumerated() {
      text += (index == 0 ? "" : ",") + inner
      write(entry, &text, indentation.map { _ in inner })
    }
    text += (entries.isEmpty ? "" : indentation ?? "") + end
  }
}
