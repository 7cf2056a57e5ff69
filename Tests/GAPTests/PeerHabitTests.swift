import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import TestLink
import TestLoop
import TestSupport
import Testing

/// Devices that end a link, or fall silent, at a procedure which others carry out: they end it at the request for the MTU
/// (micropython/micropython-lib, 456), do not answer it (ARMmbed/mbed-os, 15376), end each link while their features are read
/// (50ButtonsEach/fliclib-linux-dist, 41), or after a change of the connection's parameters (bluez/bluez, 745).
@BluetoothActor
@Suite(.onTheLoop) struct PeerHabitTests {
  let adapter = FakeAdapter()
  let central: Central

  init() {
    central = Central(adapter)
  }

  private func address(_ number: UInt64) -> BluetoothAddress { BluetoothAddress(number, .random) }

  private func leftOut(_ number: UInt64 = 1) -> Set<LinkProcedure> {
    central.leftOut(of: PeerIdentity(address(number)))
  }

  /// A link on which nothing is answered.
  private func connect(to number: UInt64 = 1) async throws -> (FakeLink, GATTLink) {
    let fake = FakeLink(peer: address(number))
    adapter.link = .success(fake)
    let link = try await central.connect(ConnectionRequest(peer: address(number)))
    return (fake, link)
  }

  @Test func aPeerThatEndsTheLinkAtTheMTUIsNotAskedAgain() async throws {
    let (fake, link) = try await connect()
    link.gatt.exchangeMTU { _ in }
    fake.lose(.remote(.remoteUserTerminatedConnection))
    #expect(leftOut() == [.exchangeMTU] && leftOut(2) == [])
    let (next, other) = try await connect()
    #expect(try await other.gatt.exchangeMTU() == 23)
    #expect(next.takeSent().isEmpty)
  }

  @Test func aPeerThatIsSilentAtTheMTUIsNotAskedAgain() async throws {
    let (_, link) = try await connect()
    _ = try? await link.gatt.exchangeMTU()
    _ = try await link.disconnection()
    #expect(leftOut() == [.exchangeMTU])
  }

  /// The subscription to Service Changed costs five seconds once, also of a program that goes on with that link.
  @Test func aPeerThatIsSilentAtServiceChangedIsNotAskedAgain() async throws {
    let begin = testTimers.now
    let (_, link) = try await connect()
    link.gatt.watchServiceChanges()
    await #expect(throws: StackError.self) { try await link.gatt.read(AttributeHandle(0x20)) }
    #expect(testTimers.now - begin < .seconds(6))
    #expect(leftOut() == [.serviceChanged])
    let (next, other) = try await connect()
    next.answer("0a2000", "0b01")
    other.gatt.watchServiceChanges()
    #expect(try await other.gatt.read(AttributeHandle(0x20)) == [1])
  }

  /// A peer that ends the link there, while values flow, would end each link there.
  @Test func aPeerThatEndsTheLinkAtServiceChangedIsNotAskedAgain() async throws {
    let (fake, link) = try await connect()
    link.gatt.watchServiceChanges()
    fake.lose(.remote(.remoteUserTerminatedConnection))
    #expect(leftOut() == [.serviceChanged])
  }

  /// A link may be lost by chance.
  @Test(arguments: [LinkProcedure.exchangeMTU, .updateDataLength, .updatePHY, .keepParameters])
  func skipsProcedureAfterTwoLostLinks(_ procedure: LinkProcedure) async throws {
    for expected in [[], [procedure]] as [Set<LinkProcedure>] {
      let (fake, link) = try await connect()
      if procedure == .exchangeMTU { link.gatt.exchangeMTU { _ in } } else { fake.unfinished = procedure }
      fake.lose(.remote(.connectionTimeout))
      #expect(leftOut() == expected)
    }
  }

  /// In weeks, links are lost by chance in each procedure.
  @Test func aLinkWithValuesBetweenMakesALossAChance() async throws {
    for _ in 0..<3 {
      let (lost, _) = try await connect()
      lost.unfinished = .updatePHY
      lost.lose(.remote(.connectionTimeout))
      let (fake, link) = try await connect()
      _ = link.gatt.listen(
        to: Characteristic(
          uuid: uuid("2a37"), properties: .notify, declaration: 0x0F, valueHandle: 0x10, end: 0x10)
      ) { _, _ in }
      fake.receive("1b 1000 07")
      fake.lose(.remote(.connectionTimeout))
      #expect(leftOut() == [])
    }
  }

  @Test func aLinkThatIsNotEstablishedAtReadingTheFeaturesCosts() async {
    for expected in [[], [.readFeatures]] as [Set<LinkProcedure>] {
      adapter.link = .failure(.connectionFailed(address(1), .responseTimeout))
      _ = try? await central.connect(ConnectionRequest(peer: address(1)))
      #expect(leftOut() == expected)
    }
  }

  /// The end that the program wants, or the adapter, says nothing about the peer.
  @Test(arguments: [LinkLoss.local, .adapter(.notReady)])
  func localOrAdapterDisconnectionsAreNotCounted(_ loss: LinkLoss) async throws {
    for _ in 0..<3 {
      let (fake, link) = try await connect()
      link.gatt.exchangeMTU { _ in }
      fake.lose(loss)
    }
    #expect(leftOut() == [])
  }

  /// A radio meets many addresses in its life, and most of them once.
  @Test func evictsLeastRecentlyUpdatedPeers() async throws {
    for number in 1...300 as ClosedRange<UInt64> {
      let (fake, link) = try await connect(to: number)
      link.gatt.exchangeMTU { _ in }
      fake.lose(.remote(.remoteUserTerminatedConnection))
    }
    #expect(leftOut(1) == [] && leftOut(300) == [.exchangeMTU] && leftOut(100) == [.exchangeMTU])
  }
}
