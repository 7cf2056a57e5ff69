import TestSupport
import Testing

/// The text of the sources: what the formatter does not hold.
struct SourceTextTests {
  private static let package = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  private static let lines = ["Sources", "Tests", "Examples", "Benchmarks"].flatMap { folder in
    Disk.swiftFiles(below: "\(package)/\(folder)").flatMap { path in
      let name = path.dropFirst(package.count + 1)
      return (Disk.text(of: path) ?? "").split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        .map { number, line in
          (place: "\(name):\(number + 1)", text: line.drop { $0 == " " }, isTopLevel: line.first != " ")
        }
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

  /// A reader who finds a name has found the type. Types that only their file knows may repeat.
  @Test func twoTypesNeverShareAName() {
    let pattern =
      /^(?:@\S+ )*(?:public |package |internal |final |indirect )*(?:struct|class|enum|protocol|actor) (\w+)/
    var places: [Substring: [String]] = [:]
    for line in Self.lines where line.isTopLevel && line.place.hasPrefix("Sources/") {
      if let match = line.text.prefixMatch(of: pattern) {
        places[match.output.1, default: []].append(line.place)
      }
    }
    #expect(places.count > 900)
    #expect(places.filter { $0.value.count > 1 }.map { "\($0.key): \($0.value)" } == [])
  }
}
