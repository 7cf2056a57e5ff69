import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

/// Answers of exactly the size that the MTU allows, and of one byte more (Core Specification Vol 3, Part F, 3.4).
@Suite struct ServerLimitTests {
  private static let value = uuid("2a19")

  /// Readable values of these lengths, from handle 1 on.
  private func server(_ lengths: [Int]) -> ServerDialogue {
    ServerDialogue(
      lengths.enumerated().map { index, length in
        ServerAttribute(
          handle: AttributeHandle(UInt16(index + 1)), type: Self.value,
          value: Array(repeating: UInt8(index + 1), count: length))
      })
  }

  private func bytes(_ server: ServerDialogue, _ request: any ATTPDU) -> [UInt8]? {
    server.unlinked.receive(request.bytes.span.bytes).first
  }

  // MARK: Values (3.2.9)

  /// Clients drop what is longer, or keep a part (zephyrproject-rtos/zephyr 117275, bluez/bluez 377; NimBLE-Arduino refuses it
  /// where the program gives it, h2zero/NimBLE-Arduino 328).
  @Test func aValueHasAtMost512Bytes() throws {
    func bytes(_ count: Int) -> [UInt8] { Array(repeating: 9, count: count) }
    let database = AttributeDatabase()
    database.addService(0x180F)
    let value = database.addCharacteristic(0x2A19, [.read, .notify, .indicate], value: bytes(512))
    #expect(database.addDescriptor(0x2901, value: bytes(512)) == 5)
    let attributes = database.attributes
    #expect(database.addCharacteristic(0x2A1A, .read, value: bytes(513)) == 0)
    #expect(database.addDescriptor(0x2901, value: bytes(513)) == 0)
    #expect(throws: StackError.tooLong(513)) { try database.setValue(bytes(513), of: value) }
    #expect(database.attributes == attributes)
    try database.setValue(bytes(511), of: value)
    #expect(database.value(of: value)?.count == 511)
    // One that is sent nevertheless has no more, whatever the MTU has room for.
    let dialogue = ServerDialogue(database).exchanged(517)
    for (configuration, push) in [("0100", dialogue.server.notify), ("0200", dialogue.server.indicate)] {
      _ = dialogue.ask("12 0400 " + configuration)
      for count in [512, 513, 600] {
        #expect(push(bytes(count), value, false) == .sent && dialogue.takeSent().count == 2 * 515)
        _ = dialogue.ask("1e")
      }
    }
  }

  // MARK: Read Multiple Variable (3.4.4.12)

  /// Only the first MTU - 1 bytes of the list are sent; the length of a value that is cut is that of the whole.
  @Test func theLastOfSeveralValuesIsCut() {
    let answer = bytes(server([10, 10, 5]), ATTReadMultipleVariableRequest([1, 2, 3]))
    let first: [UInt8] = [10, 0] + Array(repeating: 1, count: 10)
    let second: [UInt8] = [10, 0] + Array(repeating: 2, count: 8)
    #expect(answer == [0x21] + first + second)
  }

  @Test func aSingleLongValueIsCutToo() {
    let answer = bytes(server([300, 1]), ATTReadMultipleVariableRequest([1, 2]))
    let value: [UInt8] = Array(repeating: 1, count: 20)
    #expect(answer == [0x21, 0x2C, 0x01] + value)
  }

  @Test func valuesThatJustFitAreWhole() {
    let server = server([10, 8])
    let answer = bytes(server, ATTReadMultipleVariableRequest([1, 2]))
    #expect(answer?.count == 23)
    let second: [UInt8] = [8, 0] + Array(repeating: 2, count: 8)
    #expect(answer.map { Array($0.suffix(10)) } == second)
  }

  /// A length of two bytes is not sent by half.
  @Test func aLengthIsNotCut() {
    let answer = bytes(server([19, 4]), ATTReadMultipleVariableRequest([1, 2]))
    let value: [UInt8] = Array(repeating: 1, count: 19)
    #expect(answer == [0x21, 19, 0] + value)
  }

  /// A value that may not be read is refused, also where there is no room for it.
  @Test func checksHandlesWithoutRoomInResponse() {
    let server = server([300])
    #expect(server.refusal(ATTReadMultipleVariableRequest([1, 0x00FF])) == .invalidHandle)
  }

  @Test func severalValuesAreCutAtTheMTU() {
    let answer = bytes(server([12, 12]), ATTReadMultipleRequest([1, 2]))
    let values: [UInt8] = Array(repeating: 1, count: 12) + Array(repeating: 2, count: 10)
    #expect(answer == [0x0F] + values)
  }

  /// Values have nothing between them: there is room for the first byte of a third.
  @Test func severalValuesFillTheMTU() {
    let answer = bytes(server([10, 11, 5]), ATTReadMultipleRequest([1, 2, 3]))
    let values: [UInt8] = Array(repeating: 1, count: 10) + Array(repeating: 2, count: 11) + [3]
    #expect(answer == [0x0F] + values)
  }

  // MARK: Read By Type (3.4.4.2)

  private func entries(_ lengths: [Int], mtu: UInt16) -> [Int] {
    let server = server(lengths).exchanged(mtu)
    let answer = server.ask(ATTReadByTypeRequest(.all, type: Self.value)) as? ATTReadByTypeResponse
    return answer?.entries.map(\.value.count) ?? []
  }

  /// At most 253 bytes of a value are sent: the length of an entry is one byte.
  @Test func valuesOfMoreThan253BytesAreCut() {
    #expect(entries([253], mtu: 517) == [253])
    #expect(entries([254], mtu: 517) == [253])
    #expect(entries([253, 254, 512], mtu: 517) == [253, 253])
    #expect(entries([252, 253], mtu: 517) == [252])
    #expect(entries([253], mtu: 257) == [253])
    #expect(entries([253], mtu: 256) == [252])
  }

  @Test func asManyEntriesAreSentAsFit() {
    // 2 bytes before the entries, 2 bytes of each before its value.
    #expect(entries([8, 8, 8], mtu: 32) == [8, 8, 8])
    #expect(entries([8, 8, 8], mtu: 31) == [8, 8])
    // One length per answer.
    #expect(entries([8, 8, 7, 8], mtu: 64) == [8, 8])
  }

  // MARK: Lists of attributes and services

  private func services(_ count: Int, _ uuid: BluetoothUUID) -> ServerDialogue {
    ServerDialogue { table in
      for _ in 0..<count { table.addService(uuid) }
    }
  }

  private func count(_ answer: (any ATTPDU)?) -> Int {
    switch answer {
    case let answer as ATTReadByGroupTypeResponse: answer.entries.count
    case let answer as ATTFindByTypeValueResponse: answer.ranges.count
    case let answer as ATTFindInformationResponse: answer.entries.count
    default: -1
    }
  }

  @Test(arguments: [(26, 4), (25, 3), (31, 4), (32, 5)] as [(UInt16, Int)])
  func asManyServicesAreSentAsFit(mtu: UInt16, expected: Int) {
    let server = services(10, uuid("180f")).exchanged(mtu)
    #expect(count(server.ask(ATTReadByGroupTypeRequest(.all, type: GATTUUID.primaryService))) == expected)
  }

  @Test(arguments: [(42, 2), (41, 1)] as [(UInt16, Int)])
  func asManyServicesOf128BitsAreSentAsFit(mtu: UInt16, expected: Int) {
    let server = services(10, BluetoothUUID(7 as UInt128)).exchanged(mtu)
    #expect(count(server.ask(ATTReadByGroupTypeRequest(.all, type: GATTUUID.primaryService))) == expected)
  }

  @Test(arguments: [(25, 6), (24, 5)] as [(UInt16, Int)])
  func asManyHandlesOfAServiceAreSentAsFit(mtu: UInt16, expected: Int) {
    let server = services(10, uuid("180f")).exchanged(mtu)
    #expect(
      count(server.ask(ATTFindByTypeValueRequest(.all, type: 0x2800, value: [0x0F, 0x18]))) == expected)
  }

  @Test(arguments: [(26, 6), (25, 5)] as [(UInt16, Int)])
  func asManyTypesAreSentAsFit(mtu: UInt16, expected: Int) {
    let server = services(10, uuid("180f")).exchanged(mtu)
    #expect(count(server.ask(ATTFindInformationRequest(.all))) == expected)
  }

  // MARK: The MTU (3.4.2.2)

  @Test func theSmallerMTUAppliesAndTheFirstResultIsNotExceeded() {
    let server = server([300])
    func length() -> Int? { bytes(server, ATTReadRequest(1))?.count }
    #expect(length() == 23)
    #expect(server.ask(ATTExchangeMTURequest(clientMTU: 600)) == ATTExchangeMTUResponse(serverMTU: 517))
    #expect(length() == 301)
    _ = server.ask(ATTExchangeMTURequest(clientMTU: 100))
    #expect(length() == 100)
    _ = server.ask(ATTExchangeMTURequest(clientMTU: 200))
    #expect(length() == 100)
    _ = server.ask(ATTExchangeMTURequest(clientMTU: 0))
    #expect(length() == 23)
  }

  @Test func aValueOfTheFullCapacityIsTaken() {
    let server = ServerDialogue { table in
      table.addService(uuid("180f"))
      table.addCharacteristic(Self.value, [.read, .write], capacity: 20)
    }
    #expect(server.ask(ATTWriteRequest(3, value: Array(repeating: 1, count: 20))) == ATTWriteResponse())
    #expect(
      server.refusal(ATTWriteRequest(3, value: Array(repeating: 1, count: 21)))
        == .invalidAttributeValueLength)
  }
}
