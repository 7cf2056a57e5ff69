import HaloBluetoothCore
import TestSupport
import Testing

@testable import HCI

/// Commands and events that are rows of tables.
@Suite struct DecodedFieldsTests {
  /// Names and values, as they are shown.
  private func shown(_ fields: (any PacketFields)?, _ bytes: String) throws -> [String] {
    let list = FieldList()
    let bytes = hex(bytes)
    var fields = try #require(fields)
    list.read(bytes.span.bytes, 0..<bytes.count, reference: "") { lister throws(DecodeError) in
      try fields.list(&lister)
    }
    return list.fields.map { "\($0.name) \($0.value)" }
  }

  /// Each opcode, and each bit, has one command: a type or a row.
  @Test func commandsDoNotCollide() {
    let infos = HCICommandInfo.declared.map { $0.info } + HCICommandInfo.rows.map(\.info)
    #expect(Set(infos.map(\.opcode)).count == infos.count)
    let bits = infos.compactMap(\.bit)
    #expect(Set(bits).count == bits.count)
  }

  @Test func eventsDoNotCollide() {
    #expect(Set(HCIEventInfo.eventRows.map(\.code)).count == HCIEventInfo.eventRows.count)
    #expect(Set(HCIEventInfo.leEventRows.map(\.code)).count == HCIEventInfo.leEventRows.count)
  }

  @Test func aFieldMayDependOnThoseBefore() throws {
    let mode = HCIEventInfo[HCIEventCode.modeChange]?.parameters
    #expect(try shown(mode, "00 4000 02 1203").last == "interval 786 slots")
    #expect(try shown(mode, "00 4000 00 1203").last == "interval not used")
    let connection = HCIEventInfo[HCIEventCode.connectionComplete]?.parameters
    #expect(try shown(connection, "00 4000 efbe41383530 01 00").last == "encryption off")
    let failed = try shown(connection, "04 4000 efbe41383530 01 00")
    #expect(failed[1] == "connection handle not valid")
    #expect(failed[2] == "peer address 30:35:38:41:BE:EF")
    #expect(failed.last == "encryption not valid")
  }

  @Test func fieldsOfSeveralPacketsAreInEach() throws {
    let entry = try #require(HCICommandCatalog.standard[HCIOpcode(rawValue: 0x042B)])
    let capability = [
      "peer address 30:35:38:41:BE:EF", "IO capability display, yes or no", "OOB data not present",
      "authentication requirements dedicated bonding, MITM",
    ]
    #expect(try shown(entry.parameters, "efbe41383530 01 00 03") == capability)
    #expect(
      try shown(HCIEventInfo[HCIEventCode(rawValue: 0x32)]?.parameters, "efbe41383530 01 00 03") == capability
    )
    #expect(try shown(entry.returnParameters, "efbe41383530") == [capability[0]])
    // The address is valid in a failure, too; a command about a link begins with its handle.
    #expect(entry.validAfterFailure == 6)
    #expect(!entry.isAboutLink)
    #expect(HCICommandCatalog.standard[HCIOpcode(rawValue: 0x0803)]?.isAboutLink == true)
  }

  @Test func fieldsThatAreMissingAreDamage() throws {
    let sniff = HCICommandCatalog.standard[HCIOpcode(rawValue: 0x0804)]?.parameters
    #expect(try shown(sniff, "40") == ["damaged cut off at byte 0: 2 bytes needed, 1 left"])
    #expect(try shown(sniff, "4000 01") == ["connection handle 0x0040", "more bytes than known 01"])
  }
}
