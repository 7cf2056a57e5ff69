import HaloBluetoothCore
import HaloStorage
import HaloMQTT
import Testing

@Suite struct BatchTests {
  private let ring = BluetoothAddress(0x3035_3841_BEEF, .public)

  private func add(_ text: String, to maker: inout BatchMaker) -> [UInt8]? {
    let bytes = Array(text.utf8)
    return maker.add(bytes.span.bytes)
  }

  private func object(_ batch: [UInt8]) throws -> [String: JSONValue] {
    guard case .object(let members) = try JSONValue(parsing: batch) else { return [:] }
    return members
  }

  @Test func aBatchHasItsRecordsInOrder() throws {
    var maker = BatchMaker(ring: ring, name: "R02 \"x\"", session: "0123")
    #expect(maker.isEmpty)
    #expect(add("{\"seq\":0}\n", to: &maker) == nil)
    #expect(add("{\"seq\":1}", to: &maker) == nil)
    #expect(add("\n", to: &maker) == nil)
    #expect(!maker.isEmpty)
    #expect(
      String(decoding: maker.take(), as: UTF8.self)
        == #"{"session":"0123","batch":0,"ring":{"address":"30:35:38:41:BE:EF","name":"R02 \"x\""},"#
        + #""records":[{"seq":0},{"seq":1}]}"#)
    #expect(maker.isEmpty)
    _ = add("{}", to: &maker)
    let second = try object(maker.take())
    #expect(second["batch"] == .integer(1))
    #expect(second["records"] == .array([.object([:])]))
  }

  @Test func noBatchIsLargerThanTheLimitAndNoRecordIsLost() throws {
    var maker = BatchMaker(ring: ring, name: nil)
    var batches: [[UInt8]] = []
    for number in 0..<2000 {
      let record = "{\"seq\":\(number),\"text\":\"\(String(repeating: "x", count: 90))\"}\n"
      if let batch = add(record, to: &maker) { batches.append(batch) }
    }
    batches.append(maker.take())
    #expect(batches.count > 2)
    var numbers: [JSONValue] = []
    for (number, batch) in batches.enumerated() {
      #expect(batch.count <= BatchMaker.largestBatch)
      let members = try object(batch)
      #expect(members["batch"] == .integer(number))
      #expect(members["session"] == .string(maker.session))
      guard case .array(let records)? = members["records"] else { continue }
      numbers += try records.map { .integer(try $0.member("seq", as: Int.self)) }
    }
    #expect(numbers == (0..<2000).map { .integer($0) })
  }

  @Test func eachMakerHasASessionOfItsOwn() {
    let sessions = (0..<100).map { _ in BatchMaker(ring: ring, name: nil).session }
    #expect(Set(sessions).count == 100)
    #expect(sessions.allSatisfy { $0.utf8.count == 16 })
  }

  @Test func stateMessageContainsKnownFields() {
    var state = RingState()
    state.take(.battery, .integer(87))
    state.take(.charging, .bool(false))
    let message = state.message(Topics("home/rings"), of: ring, time: "2026-11-21T13:45:00Z")
    #expect(message.isRetained)
    #expect(message.topic == "home/rings/30353841beef/state")
    #expect(
      String(decoding: message.payload, as: UTF8.self)
        == #"{"battery_percent":87,"charging":false,"time":"2026-11-21T13:45:00Z"}"#)
  }
}
