import RingLink
import Testing

import struct FoundationEssentials.Data
import struct FoundationEssentials.URL

/// Names, numbers, offsets, forms, units and words of every command, as the repository has them. A test of another module
/// that states them would have to be changed with each of them.
struct ReferencePageTests {
  /// `halo-raw ring-commands > docs/ring-commands.md` mends it.
  @Test func thePageInTheRepositoryIsThatOfTheTable() throws {
    let root = URL(filePath: #filePath).appending(path: "../../../../docs/ring-commands.md").standardized
    let page = String(decoding: try Data(contentsOf: root), as: UTF8.self)
    #expect(
      page == ReferencePage.markdown,
      "docs/ring-commands.md is out of date: make it with halo-raw ring-commands")
  }

  @Test func pageContainsEveryCommand() {
    for entry in CommandTable.all { #expect(ReferencePage.markdown.contains(entry.name)) }
    #expect(!ReferencePage.markdown.contains("not supported"))
  }
}
