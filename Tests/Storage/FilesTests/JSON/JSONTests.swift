import Foundation
import Testing

@testable import HaloStorage

private struct Address: JSONDecodable {
  let port: UInt16

  init(_ json: JSONValue) throws(JSONError) {
    port = try json.member("port")
  }
}

struct JSONTests {
  /// Foundation's reader is the reference.
  @Test(arguments: [
    "null", "true", "false", "0", "-0", "12", "-7", "1.5", "1e3", "-2.5E-2", "\"\"",
    "\"a\\u00e9\\ud83d\\ude00b\"", "\"\\u00E9\\uFFFD\\u0aBc\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "[]", "{}", " [ 1 , [ 2 ] , { \"a\" : null } ] ",
    "{\"a\":{\"b\":[true]},\"c\":\"d\"}",
    "9223372036854775807", "\"é\u{1F48D}\"",
  ]) func agreesWithFoundation(text: String) throws {
    let ours = try JSONValue(parsing: text.utf8)
    let theirs = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    #expect(try same(ours, theirs), "\(ours), \(theirs)")
  }

  @Test(arguments: [
    "", " ", "tru", "nul", "+1", "01", "1.", ".5", "1e", "-", "\"", "\"\\x\"", "\"\\u12\"", "\"\\u00g0\"",
    "\"\\u+123\"", "\"\\ud800\"",
    "\"\\ud800\\u0041\"", "\"\\udc00\"", "[1", "[,]", "{\"a\"}", "{\"a\":}", "{a:1}",
    "1 2", "\"a\nb\"",
    "[}", "1e999",
  ]) func rejectsInvalidJSON(text: String) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: text.utf8) }
    #expect(throws: (any Error).self) {
      try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    }
  }

  /// Foundation accepts them.
  @Test(arguments: ["[1,]", #"{"a":1,}"#]) func aCommaAtTheEndIsRefused(text: String) {
    #expect(throws: JSONError.malformed(offset: text.utf8.count - 1)) { try JSONValue(parsing: text.utf8) }
  }

  @Test func invalidUTF8IsRefused() {
    #expect(throws: JSONError.malformed(offset: 1)) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
    #expect(throws: JSONError.malformed(offset: 1)) {
      try JSONValue(parsing: [0x22, 0x5C, 0x6E, 0xC3, 0x22])
    }
  }

  @Test func theDepthIsLimited() throws {
    let deepest = Array(repeating: UInt8(ascii: "["), count: JSONValue.maximumDepth)
    let end = Array(repeating: UInt8(ascii: "]"), count: JSONValue.maximumDepth)
    _ = try JSONValue(parsing: deepest + end)
    #expect(throws: JSONError.malformed(offset: JSONValue.maximumDepth)) {
      try JSONValue(parsing: [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000))
    }
  }

  @Test func textIsReadBackAndByFoundation() throws {
    let value = JSONValue.object([
      "b": .array([.integer(-1), .bool(true), .null, .array([]), .object([:])]),
      "a": .string("ring \"x\"\u{1}\n"),
    ])
    #expect(
      value.text == """
        {
          "a" : "ring \\"x\\"\\u0001\\n",
          "b" : [
            -1,
            true,
            null,
            [],
            {}
          ]
        }
        """)
    #expect(try JSONValue(parsing: value.text.utf8) == value)
    #expect(try same(value, try JSONSerialization.jsonObject(with: Data(value.text.utf8))))
  }

  @Test func anErrorNamesThePlace() throws {
    let value = try JSONValue(parsing: #"{"rings":[{"port":70000}],"name":1}"#.utf8)
    #expect(throws: JSONError.wrongKind(path: ["rings", "0", "port"])) {
      try value.member("rings", as: [Address].self)
    }
    #expect(throws: JSONError.missing(path: ["host"])) { try value.member("host", as: String.self) }
    let rings = try JSONValue(parsing: #"{"rings":[{"name":1}]}"#.utf8)
    let error = #expect(throws: JSONError.self) { try rings.member("rings", as: [Address].self) }
    #expect(error?.description == "\"port\" is missing at rings.0")
    #expect(JSONError.wrongKind(path: ["name"]).description == "the wrong kind of value at name")
  }

  private func same(_ ours: JSONValue, _ theirs: Any) throws -> Bool {
    switch ours {
    case .null: theirs is NSNull
    case .bool(let value): theirs as? Bool == value
    case .integer(let value): theirs as? Int == value
    case .number(let value): theirs as? Double == value
    case .string(let value): theirs as? String == value
    case .array(let items):
      try items.count == #require(theirs as? [Any]).count
        && zip(items, #require(theirs as? [Any])).allSatisfy { try same($0, $1) }
    case .object(let members):
      try members.count == #require(theirs as? [String: Any]).count
        && members.allSatisfy { try same($1, #require((theirs as? [String: Any])?[$0])) }
    }
  }
}
