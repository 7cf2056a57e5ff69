import ATT
import HaloGATT
import HaloBluetoothCore
import HaloStorage
import TestSupport
import Testing

/// Attribute tables as `inspect --format jsonl` prints them.
@Suite struct AttributeTableFileTests {
  private func parse(_ lines: [String]) throws -> [String] {
    try AttributeTableFile.parse(Array(lines.joined(separator: "\n").utf8)).map {
      "\($0.handle) \($0.type) \(Hex.string($0.value))" + ($0.groupEnd.map { " to \($0)" } ?? "")
    }
  }

  @Test func aTableIsRead() throws {
    let table = try parse([
      #"{"handle":14,"kind":"service","uuid":"180D","name":"Heart Rate","end":19}"#,
      #"{"handle":15,"kind":"include","uuid":"180F","end":22}"#,
      #"{"handle":16,"kind":"characteristic","uuid":"2A37","end":19,"value_handle":17,"properties":["read","notify"],"value":"0040"}"#,
      #"{"handle":18,"kind":"descriptor","uuid":"2902","value":"0000"}"#,
      #"{"handle":20,"kind":"secondary service","uuid":"180F","end":22}"#, "",
    ])
    #expect(
      table == [
        "0x000e 2800 0d18 to 0x0013", "0x000f 2802 140016000f18", "0x0010 2803 121100372a",
        "0x0011 2A37 0040", "0x0012 2902 0000", "0x0014 2801 0f18 to 0x0016",
      ])
  }

  @Test func aValueHasAtMost512Bytes() throws {
    func lines(_ count: Int) -> [String] {
      [
        #"{"handle":1,"kind":"service","uuid":"180D","end":3}"#,
        #"{"handle":2,"kind":"characteristic","uuid":"2A37","value_handle":3,"properties":["read"],"value":""#
          + String(repeating: "00", count: count) + #""}"#,
      ]
    }
    #expect(try parse(lines(512)).count == 3)
    let error = #expect(throws: AttributeTableError.self) { try parse(lines(513)) }
    #expect(
      error?.description
        == "the table, line 2: 513 bytes are too many: an attribute value holds 512 at most")
  }

  @Test(arguments: [
    "", "[]", #"{"handle":0,"kind":"service","uuid":"180D","end":3}"#,
    #"{"handle":9,"kind":"service","uuid":"180D","end":3}"#, #"{"handle":9,"kind":"car","uuid":"180D"}"#,
    #"{"handle":9,"kind":"descriptor","uuid":"x"}"#,
    #"{"handle":2,"kind":"characteristic","uuid":"2A37","value_handle":3,"properties":["read","notfy"]}"#,
  ])
  func otherLinesAreRefused(_ line: String) {
    #expect(throws: AttributeTableError.self) { try parse([line]) }
  }
}
