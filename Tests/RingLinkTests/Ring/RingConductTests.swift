import ATT
import GAP
import HaloGATT
import HaloBluetoothCore
import TestLink
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// What a ring writes to its link, and what it does not let through.
@BluetoothActor
@Suite(.onTheLoop) struct RingConductTests {
  private let link = FakeLink()
  private static let battery = RingFrame(0x03)

  private static func characteristic(
    _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, _ handle: UInt16
  )
    -> Characteristic
  {
    Characteristic(
      uuid: uuid, properties: properties, declaration: AttributeHandle(handle - 1),
      valueHandle: AttributeHandle(handle), end: AttributeHandle(handle + 1))
  }

  private func ring(_ connection: GATTLink, confirms: Bool = true) -> RingClient {
    RingClient(
      connection,
      write: Self.characteristic(
        RingGATT.commandWrite, confirms ? [.write, .writeWithoutResponse] : .writeWithoutResponse, 0x10),
      notify: Self.characteristic(RingGATT.commandNotify, .notify, 0x12))
  }

  private func forbidden(_ reason: String) -> StackError { .forbidden(reason) }

  /// The parts of a long write are each less than a frame, so that no check of a frame sees what they make up. The command
  /// is harmless: no other rule refuses it.
  @Test func aCommandInPartsIsRefused() async throws {
    let connection = link.connection()
    let ring = ring(connection)
    let long = Self.battery.bytes + Array(repeating: 0, count: 5)
    link.answer("18 00", "19")
    await #expect(throws: forbidden("a ring takes commands in one piece")) {
      try await connection.gatt.write(long, to: AttributeHandle(0x10))
    }
    #expect(!link.takeSent().contains { $0.hasPrefix("16") })
    link.answer("12 1000" + Hex.string(Self.battery.bytes), "13")
    try await connection.gatt.write(Self.battery.bytes, to: AttributeHandle(0x10))
    // Other values of the device may be long.
    link.answer(
      "16 2000 0000" + Hex.string(Array(long[..<18])), "17 2000 0000" + Hex.string(Array(long[..<18])))
    link.answer(
      "16 2000 1200" + Hex.string(Array(long[18...])), "17 2000 1200" + Hex.string(Array(long[18...])))
    link.answer("18 01", "19")
    try await connection.gatt.write(long, to: AttributeHandle(0x20))
    withExtendedLifetime(ring) {}
  }

  /// A bulk frame in parts is refused as well: each of these parts is harmless, and what the first one is depends on none
  /// of the others. Nor can the payload that makes a command dangerous be written for itself.
  @Test func aBulkFrameInPartsIsRefused() async throws {
    let connection = link.connection()
    let ring = ring(connection)
    link.answer("18 00", "19")
    let frame: [UInt8] = [0xBC, 0x27, 14, 0, 0, 0] + Array(repeating: 0, count: 16)
    #expect(CommandTable.danger(ofWriting: frame) == nil)
    await #expect(throws: forbidden("a ring takes commands in one piece")) {
      try await connection.gatt.write(frame, to: AttributeHandle(0x16))
    }
    #expect(!link.takeSent().contains { $0.hasPrefix("16") })
    // The start of a profile of zeros, whose zeros would follow, and one with a wrong checksum.
    let profile: [UInt8] = [0x0A, 2]
    for value in [profile, profile + Array(repeating: 0, count: 13) + [0xFF]] {
      #expect(throws: StackError.self) {
        try connection.gatt.writeWithoutResponse(value, to: AttributeHandle(0x10))
      }
    }
    #expect(link.sent == [])
    withExtendedLifetime(ring) {}
  }

  @Test func aDangerousCommandIsRefusedByWhicheverWay() async throws {
    let connection = link.connection()
    let ring = ring(connection)
    let dangerous = try #require(
      (0...255).lazy.map { RingFrame(RingCommand(rawValue: $0)) }.first { CommandTable.danger(of: $0) != nil }
    )
    await #expect(throws: StackError.self) {
      try await connection.gatt.write(dangerous.bytes, to: AttributeHandle(0x10))
    }
    #expect(throws: StackError.self) {
      try connection.gatt.writeWithoutResponse(dangerous.bytes, to: AttributeHandle(0x10))
    }
    // Without its checksum, and as the first byte alone.
    #expect(throws: StackError.self) {
      try connection.gatt.writeWithoutResponse([dangerous.bytes[0]], to: AttributeHandle(0x10))
    }
    #expect(link.sent == [])
    withExtendedLifetime(ring) {}
  }

  @Test func framesAreWrittenAsTheCharacteristicOffers() async throws {
    let connection = link.connection()
    let frame = Hex.string(Self.battery.bytes)
    let confirming = ring(connection)
    #expect(confirming.confirmsFrames)
    try confirming.dispatcher.post(Self.battery)
    #expect(link.takeSent() == ["121000" + frame])
    link.receive("13")
    let plain = ring(connection, confirms: false)
    #expect(!plain.confirmsFrames)
    try plain.dispatcher.post(Self.battery)
    #expect(link.takeSent() == ["521000" + frame])
    withExtendedLifetime(confirming) {}
  }

  /// A frame that the ring refuses at the level of ATT ends all that is open, with that reason.
  @Test func aFrameThatIsNotWrittenEndsTheRing() async throws {
    let connection = link.connection()
    let ring = ring(connection)
    var reasons: [RingError] = []
    ring.dispatcher.whenClosed { reasons.append($0) }
    link.answer("12 1000" + Hex.string(Self.battery.bytes), "01 12 1000 03")
    try ring.dispatcher.post(Self.battery)
    await settle()
    let refusal = ATTErrorResponse(request: .writeRequest, handle: 0x10, code: .writeNotPermitted)
    #expect(reasons == [.bluetooth(.refused(refusal))])
  }

  @Test func theEndOfTheLinkIsTheReason() async throws {
    let connection = link.connection()
    let ring = ring(connection)
    let asked = spawn { try await ring.exchange(.frame(Self.battery)) { _ in .done } }
    await settle()
    link.lose(.remote(.connectionTimeout))
    await #expect(throws: RingError.disconnected(LinkLoss.remote(.connectionTimeout).description)) {
      try await asked.value
    }
  }
}
