import ATT
import GAP
import HaloGATT
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

/// Discovery (Core Specification Vol 3, Part G, 4.4 to 4.7; GATT/CL/GAD).
@BluetoothActor
@Suite(.onTheLoop) struct DiscoveryTests {
  enum What: Sendable {
    case services, servicesByUUID, included, characteristics, descriptors
  }

  /// What a server answers, in hexadecimal digits, until it says that there is no more.
  struct Case: Sendable, CustomTestStringConvertible {
    let what: What
    let answers: [String]
    let testDescription: String

    init(_ what: What, _ name: String, _ answers: String...) {
      self.what = what
      self.answers = answers
      testDescription = "\(what): \(name)"
    }
  }

  private func discover(_ what: What, _ connection: GATTLink) async throws(StackError) -> Int {
    let service = Service(uuid: uuid(0x180D), handles: HandleRange(0x0010, 0x001F))
    let characteristic = Characteristic(
      uuid: uuid(0x2A37), properties: .notify, declaration: 0x0010, valueHandle: 0x0011, end: 0x001F)
    return switch what {
    case .services: try await connection.gatt.discoverServices().count
    case .servicesByUUID: try await connection.gatt.discoverServices([uuid(0x180D)]).count
    case .included: try await connection.gatt.discoverIncludedServices(of: service).count
    case .characteristics: try await connection.gatt.discoverCharacteristics(of: service).count
    case .descriptors: try await connection.gatt.discoverDescriptors(of: characteristic).count
    }
  }

  /// Runs a case.
  ///
  /// - Returns: how many were found, or why none; and how many requests that took
  private func run(_ test: Case) async throws -> (Result<Int, StackError>, Int) {
    let (stage, connection) = try await Stage.connected()
    connection.gatt.watchesServiceChanges = false
    var answers = test.answers[...]
    stage.peer.react = { request in
      if let next = answers.popFirst() { return .hex(next) }
      return .send(
        (ATTErrorResponse(request: request.opcode, handle: 0, code: .attributeNotFound)))
    }
    var result: Result<Int, StackError>
    do throws(StackError) {
      result = .success(try await discover(test.what, connection))
    } catch {
      result = .failure(error)
    }
    let count = stage.peer.requestCount
    for request in stage.peer.requests { #expect(isValid(request)) }
    stage.peer.react = { _ in .honest }
    // The link is as good as before.
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    try await stage.checkHealth()
    return (result, count)
  }

  /// A request whose start is above its end is never sent.
  private func isValid(_ request: any ATTPDU) -> Bool {
    request.target.range?.isValid ?? true
  }

  private func expectFailure(_ test: Case) async throws {
    let (result, count) = try await run(test)
    guard case .failure(let error) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(error.code == .misbehaved || error.code == .malformed)
    #expect(count <= test.answers.count)
  }

  @Test(arguments: [
    Case(.services, "entries of length 0", "11 00"), Case(.services, "entries of length 3", "11 03 0100ff"),
    Case(.services, "entries of length 5", "11 05 0100 0200 aa"),
    Case(.services, "UUIDs of 3 bytes", "11 07 0100 0200 aabbcc"),
    Case(.services, "UUIDs of 4 bytes", "11 08 0100 0200 aabbccdd"),
    Case(.services, "no entry", "11 06"),
    Case(.services, "a last entry that is cut", "11 06 0100 0200 0018 0300 0400"),
    Case(.servicesByUUID, "no entry", "07"), Case(.servicesByUUID, "an entry that is cut", "07 0100 02"),
    Case(.included, "entries of length 0", "09 00"),
    Case(.included, "declarations of 5 bytes", "09 07 1000 0100 0200 aa"),
    Case(.characteristics, "entries of length 2", "09 02 1000"),
    Case(.characteristics, "declarations of 6 bytes", "09 08 1000 02 1100 372a ff"),
    Case(.characteristics, "a last entry that is cut", "09 07 1000 02 1100 372a 12"),
    Case(.descriptors, "format 0", "05 00 1200 0229"), Case(.descriptors, "format 3", "05 03 1200 0229"),
    Case(.descriptors, "no entry", "05 01"), Case(.descriptors, "an entry that is cut", "05 01 1200 02"),
  ]) func listsWithWrongLengthsFail(_ test: Case) async throws {
    try await expectFailure(test)
  }

  @Test(arguments: [
    Case(.services, "handle zero", "11 06 0000 0000 0018"),
    Case(.services, "ends before it starts", "11 06 0500 0400 0018"),
    Case(.services, "does not grow", "11 06 0100 0400 0018", "11 06 0100 0400 0018"),
    Case(.services, "goes back", "11 06 0500 0600 0018", "11 06 0200 0300 0018"),
    Case(.services, "overlaps in one list", "11 06 0100 0400 0018 0300 0600 0118"),
    Case(.servicesByUUID, "handle zero", "07 0000 0500"),
    Case(.servicesByUUID, "goes back", "07 0500 0600 0200 0300"),
    Case(.included, "outside the range", "09 08 2000 0100 0200 0018"),
    Case(.included, "an impossible service", "09 08 1000 0500 0200 0018"),
    Case(.characteristics, "outside the range", "09 07 2000 02 2100 372a"),
    Case(.characteristics, "does not grow", "09 07 1000 02 1100 372a", "09 07 1000 02 1100 372a"),
    Case(.descriptors, "before the range", "05 01 1100 0229"),
    Case(.descriptors, "behind the range", "05 01 2000 0229"),
    Case(.descriptors, "goes back", "05 01 1400 0229 1300 0129"),
  ]) func handlesThatDoNotGoUpFail(_ test: Case) async throws {
    try await expectFailure(test)
  }

  /// The last handle there is: nothing wraps, nothing is asked behind it.
  @Test(arguments: [
    Case(.services, "the last handle", "11 06 0100 ffff 0018"),
    Case(.servicesByUUID, "the last handle", "07 0100 ffff"),
    Case(.characteristics, "the last of the service", "09 07 1e00 02 1f00 372a"),
    Case(.descriptors, "the last of the characteristic", "05 01 1f00 0229"),
  ]) func aRangeThatEndsAtTheLastHandleIsTheEnd(_ test: Case) async throws {
    let (result, count) = try await run(test)
    #expect(result == .success(1))
    #expect(count == 1)
  }

  @Test(arguments: [
    Case(.characteristics, "the value at its declaration", "09 07 1000 02 1000 372a"),
    Case(.characteristics, "the value before it", "09 07 1100 02 1000 372a"),
    Case(.characteristics, "the value behind the service", "09 07 1000 02 2000 372a"),
    Case(.characteristics, "the value at zero", "09 07 1000 02 0000 372a"),
    Case(.characteristics, "inside another one", "09 0d 1000 02 1500 372a 1200 02 1600 382a"),
    Case(.descriptors, "past the end", "05 01 1200 0229 2000 0129"),
  ]) func rejectsHandlesOutsideTheirRange(_ test: Case) async throws {
    try await expectFailure(test)
  }

  /// Services that include each other are found once each.
  @Test func includesInARingEnd() async throws {
    let (result, count) = try await run(
      Case(.included, "itself", "09 08 1000 1000 1f00 0d18", "09 08 1100 1000 1f00 0d18"))
    #expect(result == .success(2))
    #expect(count == 3)
  }

  /// A server of tiny services without an end (4096 are too many).
  @Test(arguments: [What.services, .servicesByUUID, .included, .characteristics, .descriptors])
  func aServerThatNeverEndsIsLeft(_ what: What) async throws {
    let (stage, connection) = try await Stage.connected()
    connection.gatt.watchesServiceChanges = false
    stage.peer.react = { request in
      guard let range = request.target.range else { return .honest }
      return switch request {
      case is ATTReadByGroupTypeRequest:
        .send(
          ATTReadByGroupTypeResponse([
            ATTGroupAndValue(group: HandleRange(range.start, range.start), value: [0, 0x18])
          ]))
      case is ATTFindByTypeValueRequest:
        .send(ATTFindByTypeValueResponse([HandleRange(range.start, range.start)]))
      case let read as ATTReadByTypeRequest where read.type == GATTUUID.include:
        .send(ATTReadByTypeResponse([ATTHandleAndValue(handle: range.start, value: [1, 0, 2, 0, 0, 0x18])]))
      case is ATTReadByTypeRequest:
        .send(
          ATTReadByTypeResponse([
            ATTHandleAndValue(
              handle: range.start,
              value: [
                2, UInt8((range.start.rawValue + 1) & 0xFF), UInt8((range.start.rawValue + 1) >> 8), 0, 0x2A,
              ])
          ]))
      case is ATTFindInformationRequest:
        .send(ATTFindInformationResponse([ATTHandleAndType(handle: range.start, type: uuid(0x2901))]))
      default: .honest
      }
    }
    let all = HandleRange(0x0001, 0xFFFF)
    let characteristic = Characteristic(
      uuid: uuid(0x2A37), properties: .notify, declaration: 1, valueHandle: 2, end: 0xFFFF)
    let error = await failure { () async throws(StackError) in
      switch what {
      case .services: _ = try await connection.gatt.discoverServices()
      case .servicesByUUID: _ = try await connection.gatt.discoverServices([uuid(0x1800)])
      case .included:
        _ = try await connection.gatt.discoverIncludedServices(of: Service(uuid: uuid(0x180D), handles: all))
      case .characteristics:
        _ = try await connection.gatt.discoverCharacteristics(of: Service(uuid: uuid(0x180D), handles: all))
      case .descriptors: _ = try await connection.gatt.discoverDescriptors(of: characteristic)
      }
    }
    #expect(error?.code == .misbehaved)
    #expect(stage.peer.requestCount == 4097)
    stage.peer.react = { _ in .honest }
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Only "Attribute Not Found" is an end; anything else is an error, and no empty table.
  @Test(arguments: [What.services, .servicesByUUID, .included, .characteristics, .descriptors])
  func anyOtherErrorIsAnError(_ what: What) async throws {
    for code in [0x00, 0x01, 0x02, 0x05, 0x06, 0x0E, 0x0F, 0x80, 0xFF] as [UInt8] {
      let (stage, connection) = try await Stage.connected()
      connection.gatt.watchesServiceChanges = false
      stage.peer.react = {
        .send(
          (ATTErrorResponse(request: $0.opcode, handle: 0, code: ATTErrorCode(rawValue: code))))
      }
      let error = await failure { () async throws(StackError) in try await discover(what, connection) }
      #expect(error?.attCode?.rawValue == code)
      stage.peer.react = { _ in .honest }
      await connection.disconnect()
      try await stage.checkHealth()
    }
  }

  /// Nothing is asked for a range in which nothing can be.
  @Test func aRequestWhoseStartIsAboveItsEndIsNeverSent() async throws {
    let (stage, connection) = try await Stage.connected()
    connection.gatt.watchesServiceChanges = false
    let empty = Characteristic(
      uuid: uuid(0x2A37), properties: .notify, declaration: 0xFFFE, valueHandle: 0xFFFF, end: 0xFFFF)
    #expect(try await connection.gatt.discoverDescriptors(of: empty) == [])
    let upsideDown = Service(uuid: uuid(0x180D), handles: HandleRange(5, 4))
    #expect(try await connection.gatt.discoverCharacteristics(of: upsideDown) == [])
    #expect(try await connection.gatt.discoverIncludedServices(of: upsideDown) == [])
    #expect(stage.peer.requestCount == 0)
    await connection.disconnect()
    try await stage.checkHealth()
  }
}
