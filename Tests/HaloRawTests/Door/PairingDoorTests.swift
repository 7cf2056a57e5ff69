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

  /// Both ends hide. After the pairing, the device has one address for the program, whatever it has on the air.
  @Test func deviceIsKnownAtOtherAddresses() async throws {
    var hidden = PairingOptions.justWorks
    hidden.usesPrivateAddresses = true
    let server = try await Radio.open("virtual:air=door-private", pairing: hidden)
    let service = LocalService("FF00", LocalCharacteristic(Self.secret, [7], security: .encrypted))
    try await server.serve([service], as: "Lock") { [hidden] _ in
      try await withRadio("virtual:air=door-private", pairing: hidden) { radio in
        var addresses: [BluetoothAddress] = []
        for _ in 0..<4 {
          let lock = try await radio.connect(to: .name("Lock"))
          let value = try await lock.read(Self.secret)
          let status = await lock.status()
          #expect(value == [7] && status.isEncrypted)
          addresses.append(lock.peer)
          await lock.disconnect()
          try await radio.clock.sleep(for: .seconds(1000))
        }
        let identity = await server.address
        #expect(addresses[0] != identity && addresses[1...] == [identity, identity, identity])
      }
    }
    try await server.close()
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

  /// A bonded client signs what it writes over a link in clear. Who shares the link and wants it encrypted, gets that.
  @Test func signedWriteNeedsNoEncryption() async throws {
    let air = RadioSelector("virtual:air=door-signed")
    let server = try await Radio.open(air, pairing: .justWorks)
    let control = LocalCharacteristic(Self.secret, [0], properties: [.read, .authenticatedSignedWrites])
    let plain = LocalCharacteristic(
      CharacteristicID<[UInt8]>("FF02", in: "FF00"), [0], properties: [.read, .writeWithoutResponse])
    try await server.serve([LocalService("FF00", control, plain)], as: "Lock") { _ in
      try await withRadio(air, pairing: .justWorks) { radio in
        let first = try await radio.connect(to: .name("Lock"))
        do {
          try await first.writeSigned([1], to: Self.secret)
          Issue.record("a signature without a key")
        } catch BluetoothError.Code.notPermitted {}
        try await first.pair()
        try await first.writeSigned([2], to: Self.secret)
        #expect(try await first.read(Self.secret) == [2])
        do {
          try await first.writeSigned([2], to: plain.id)
          Issue.record("a signed write that the device does not take")
        } catch BluetoothError.Code.notSupported {}
        await first.disconnect()
        let clear = try await radio.connect(
          to: .name("Lock"), options: LinkOptions(isLeftInClear: true))
        let before = await clear.status()
        #expect(!before.isEncrypted)
        try await clear.writeSigned([3], to: Self.secret)
        #expect(try await clear.read(Self.secret) == [3])
        let other = try await radio.connect(to: .name("Lock"))
        let after = await other.status()
        #expect(after.isEncrypted)
        try await clear.writeSigned([4], to: Self.secret)
        #expect(try await clear.read(Self.secret) == [4])
        await other.disconnect()
        await clear.disconnect()
      }
    }
    try await server.close()
  }
}
