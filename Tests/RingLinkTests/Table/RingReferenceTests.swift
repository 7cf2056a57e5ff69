import HaloBluetoothCore
import RingLink
import Testing

import struct FoundationEssentials.Data
import class FoundationEssentials.FileManager
import struct FoundationEssentials.URL

/// The page that the code cites as "ring reference, 4.9".
struct RingReferenceTests {
  static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
  let page: String

  init() throws { page = try Self.text(of: "docs/ring-reference.md") }

  @Test func everyCitationInTheSourcesHasItsSection() throws {
    let sections = self.sections
    var citations = 0
    for folder in ["Sources", "Tests", "Examples"] {
      let files = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: folder).path)
      for file in files.sorted() where file.hasSuffix(".swift") {
        for section in Self.citations(in: try Self.text(of: "\(folder)/\(file)")) {
          citations += 1
          #expect(sections.contains(section), "\(folder)/\(file) cites \(section), which is not there")
        }
      }
    }
    #expect(citations > 50)
  }

  @Test func everyEntryOfTheCommandTableHasItsSection() {
    for entry in CommandTable.all {
      let section = String(entry.source.prefix { $0 != " " })
      #expect(sections.contains(section), "\(entry.name) is known from \(section), which is not there")
    }
  }

  @Test(arguments: [
    ("/// (ring reference, 4.9).", ["4.9"]),
    ("/// Ends it (ring reference, 4.7 and 4.9: no ring can).", ["4.7", "4.9"]),
    ("/// (ring reference, 4.3, 4.13 and 4.15).", ["4.3", "4.13", "4.15"]),
    ("/// The ring reference, 6.", ["6"]),
    ("/// (ring reference, 2 to 5). 7 frames.", ["2", "5"]),
    ("/// with statistics (ring reference,\n  /// 5.2 and\n  /// 5.3).", ["5.2", "5.3"]),
    ("/// a section of the ring reference.", []),
  ])
  func citationsAreFound(text: String, sections: [String]) {
    #expect(Self.citations(in: text) == sections)
  }

  @Test func everyFrameOfThePageHasARightChecksum() {
    let frames = examples.filter { $0.count == RingFrame.length && $0[0] != BulkFrame.magic }
    for bytes in frames {
      let frame = try? RingFrame(parsing: bytes.span.bytes)
      #expect(frame != nil, "\(Hex.string(bytes, separator: " "))")
    }
    #expect(frames.count > 30)
  }

  @Test func everyBulkFrameOfThePageIsWholeAndHasARightCRC() {
    let frames = examples.filter { $0.first == BulkFrame.magic }
    for bytes in frames {
      var assembler = BulkAssembler()
      let result = assembler.receive(bytes.span.bytes, at: .zero)
      guard case .frame(let frame) = result else {
        Issue.record("\(Hex.string(bytes, separator: " ")): \(result)")
        continue
      }
      #expect(frame.payload.count == bytes.count - BulkFrame.headerLength)
    }
    #expect(frames.count >= 8)
  }

  /// The numbers of the headings.
  private var sections: Set<String> {
    Set(page.matches(of: /(?m)^##+ (\d+(?:\.\d+)?)[. ]/).map { String($0.1) })
  }

  /// What stands in backticks and is two bytes or more.
  private var examples: [[UInt8]] {
    page.matches(of: /`([0-9A-F]{2}(?: [0-9A-F]{2})+)`/).compactMap { Hex.bytes($0.1) }
  }

  /// The sections that a source cites; a citation may go on in the comment's next line.
  private static func citations(in source: String) -> [String] {
    let text = source.replacing(/\n\s*\/\/\/? ?/, with: " ")
    return text.matches(of: /ring reference, (\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*)/).flatMap {
      $0.1.matches(of: /\d+(?:\.\d+)?/).map { String($0.0) }
    }
  }

  private static func text(of path: String) throws -> String {
    String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
  }
}
