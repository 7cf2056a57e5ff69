/// A text as one word of a shell, with quotes if it needs them.
package func shellWord(_ text: String) -> String {
  let plain = text.utf8.allSatisfy { byte in
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "/._-+:@,=".utf8.contains(byte)
  }
  let word = text.hasPrefix("-") ? "./" + text : text
  return plain && !text.isEmpty ? word : shellQuoted(word.printable)
}

/// A text between quotes that a shell takes as it is.
func shellQuoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }
