import TestSupport
import Testing

/// The text of the sources: what the formatter does not hold.
struct SourceTextTests {
  private static let package = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  private static let lines = ["Sources", "Tests", "Examples", "Benchmarks"].flatMap { folder in
    Disk.swiftFiles(below: "\(package)/\(folder)").flatMap { path in
      let name = path.dropFirst(package.count + 1)
      return (Disk.text(of: path) ?? "").split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        .map { (place: "\(name):\($0.offset + 1)", text: $0.element.drop { $0 == " " }) }
    }
  }

  private static let comments = lines.filter { $0.text.hasPrefix("//") }

  /// The formatter leaves comments as they are.
  @Test func commentsKeepTheirLimit() {
    #expect(Self.comments.count > 10_000)
    let long = Self.comments.filter { $0.text.count > 128 }
    #expect(long.map(\.place) == [])
  }

  /// A comment is a sentence, or a noun with what belongs to it: it does not begin in the middle.
  @Test(arguments: ["Of ", "Only of ", "Those ", "That of ", "That in ", "Whose "])
  func commentsHaveASubject(_ start: String) {
    let first = zip(Self.lines, Self.lines.dropFirst()).filter { before, line in
      line.text.hasPrefix("//") && !before.text.hasPrefix("//")
    }
    let found = first.filter { $0.1.text.drop { $0 == "/" }.drop { $0 == " " }.hasPrefix(start) }
    #expect(found.map(\.1.place) == [])
  }
}
