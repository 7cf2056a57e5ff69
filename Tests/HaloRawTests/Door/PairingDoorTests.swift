import HaloBluetoothCore
import HaloRaw
import HaloSystem
import TestLoop
import Testing

/// Pairing by the library, with both ends on radios of one process.
@Suite(
  .timeLimit(.minutes(1)), .enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct PairingDoorTests {
  private static let secret = CharacteristicID<[UInt8]>("FF01", in: "FF00")

  /// What a person was asked, and answers.
  private actor Person {
    private(set) var questions: [PairingQuestion] = []
    let reply: PairingAnswer

    init(_ reply: PairingAnswer) { self.reply = reply }

    func answer(_ question: PairingQuestion) -> PairingAnswer {
      questions.append(question)
      return reply
    }
  }

  private func meet<Result: Sendable>(
    _ air: String, _ ofServer: PairingOptions, _ ofClient: PairingOptions, security: SecurityLevel,
    _ body: @Sendable (Connection) async throws -> Result
  ) async throws -> Result {
    let server = try await Radio.open(RadioSelector("virtual:air=\(air)"), pairing: ofServer)
    let service = LocalService(
      "FF00", LocalCharacteristic(Self.secret, [7], security: security))
    let result = try await server.serve([service], as: "Lock") { _ in
      try await withRadio(RadioSelector("virtual:air=\(air)"), pairing: ofClient) { radio in
        try await body(try await radio.connect(to: .name("Lock")))
      }
    }
    try await server.close()
    return result
  }

  @Test func readPairsAsTheOptionsAllow() async throws {
    let value = try await meet("door-works", .justWorks, .justWorks, security: .encrypted) { connection in
      let value = try await connection.read(Self.secret)
      let status = await connection.status()
      #expect(status.isEncrypted && !status.isAuthenticated)
      return value
    }
    #expect(value == [7])
  }

  @Test func defaultPairsWithNobody() async throws {
    try await meet("door-default", .justWorks, .bondedOnly, security: .encrypted) { connection in
      do {
        _ = try await connection.read(Self.secret)
        Issue.record("a value in clear")
      } catch BluetoothError.Code.notPermitted {}
      let status = await connection.status()
      #expect(!status.isEncrypted)
    }
  }

  /// Both people see the same number.
  @Test func peopleCompareNumbers() async throws {
    let (first, second) = (Person(.accept), Person(.accept))
    try await meet(
      "door-compare", .asking(.displayAndConfirm) { question, _ in await first.answer(question) },
      .asking(.displayAndConfirm) { question, _ in await second.answer(question) }, security: .authenticated
    ) { connection in
      let value = try await connection.read(Self.secret)
      let status = await connection.status()
      #expect(value == [7] && status.isAuthenticated)
    }
    #expect(await first.questions == second.questions)
    #expect(await first.questions.count == 1)
  }

  @Test func personWhoSeesAnotherNumberEndsPairing() async throws {
    let (first, second) = (Person(.accept), Person(.refuse))
    try await meet(
      "door-refuse", .asking(.displayAndConfirm) { question, _ in await first.answer(question) },
      .asking(.displayAndConfirm) { question, _ in await second.answer(question) }, security: .authenticated
    ) { connection in
      do {
        try await connection.pair(isAuthenticated: true)
        Issue.record("a pairing that was refused")
      } catch BluetoothError.Code.notPermitted {}
    }
  }
}
