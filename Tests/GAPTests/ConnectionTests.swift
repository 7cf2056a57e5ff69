import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import TestBearer
import TestLink
import TestLoop
import TestSupport
import Testing

/// A link: its properties, its events, its end.
@BluetoothActor
@Suite(.onTheLoop) struct ConnectionTests {
  private let link = FakeLink()
  private let connection: GATTLink

  init() {
    connection = link.connection()
  }

  @Test func eventsAndPropertiesAreThoseOfTheLink() async throws {
    var events: [LinkEvent] = []
    connection.whenChanged { events.append($0) }
    link.onEvent?(.parameterRequest(.fast, isAccepted: true))
    #expect(events == [.parameterRequest(.fast, isAccepted: true)])
    #expect(try await connection.readRSSI() == -50)
    #expect(connection.peer == link.peer && connection.parameters == nil && connection.mtu == 23)
  }

  /// A link that can't change its properties refuses all requests for others.
  @Test func otherPropertiesMayBeRefused() async {
    let connection = self.connection
    func refusal(_ what: String) -> StackError { StackError(what, .notOffered) }
    await #expect(throws: refusal("change the connection parameters")) {
      try await connection.updateParameters(.fast)
    }
    await #expect(throws: refusal("change the PHY")) { try await connection.setPHYs(.le2M) }
    await #expect(throws: refusal("change the data length")) { try await connection.setDataLength(251) }
  }

  @Test func disconnectionFailsPendingRequestsAndIsReportedOnce() async throws {
    let connection = self.connection
    var losses: [LinkLoss] = []
    connection.whenDisconnected { losses.append($0) }
    let read = spawn { try await connection.gatt.read(AttributeHandle(0x10)) }
    await settle()
    link.lose(.remote(.connectionTimeout))
    let expected = StackError.closed(LinkLoss.remote(.connectionTimeout).description)
    await #expect(throws: expected) { try await read.value }
    #expect(
      losses == [.remote(.connectionTimeout)] && connection.loss == losses[0] && !connection.isConnected)
    #expect(try await connection.disconnection() == .remote(.connectionTimeout))
    await connection.disconnect()
    #expect(losses.count == 1)
  }

  /// Who stops waiting is told so, and not a reason that no link has ended for; the link stays.
  @Test func cancelledDisconnectionWaitThrowsCancellationError() async throws {
    let connection = self.connection
    let task = spawn { try await connection.disconnection() }
    await settle()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(connection.isConnected)
    link.lose(.remote(.remoteUserTerminatedConnection))
    // The end that has happened is known to a task that is cancelled, too.
    let late = spawn { try await connection.disconnection() }
    late.cancel()
    #expect(try await late.value == .remote(.remoteUserTerminatedConnection))
  }

  @Test func aServerThatDoesNotAnswerIsDisconnected() async throws {
    let connection = self.connection
    await #expect(throws: StackError.timedOut(.readRequest)) {
      try await connection.gatt.read(AttributeHandle(0x10))
    }
    #expect(try await connection.disconnection() == .local)
  }

  /// A peer that ends the link before it has answered the MTU does so because of the request; one that goes out of range may.
  @Test(arguments: [true, false]) func attributesLinkLossToPendingMTUExchange(isByPeer: Bool) {
    connection.gatt.exchangeMTU { _ in }
    #expect(connection.cost == nil)
    link.lose(.remote(isByPeer ? .remoteUserTerminatedConnection : .connectionTimeout))
    #expect(connection.cost == LinkCost(.exchangeMTU, isAnswer: isByPeer))
  }

  @Test(arguments: [LinkLoss.local, .adapter(.notReady)])
  func localDisconnectionHasNoLinkCost(_ loss: LinkLoss) {
    connection.gatt.exchangeMTU { _ in }
    link.lose(loss)
    #expect(connection.cost == nil)
  }

  @Test func aLinkOnWhichValuesCameWasNotLostByItsBeginning() async throws {
    link.unfinished = .updatePHY
    link.answer("04 1000 1000", "05 01 1000 0229")
    link.answer("12 1000 0100", "13")
    let characteristic = Characteristic(
      uuid: uuid("2a37"), properties: .notify, declaration: 0x0E, valueHandle: 0x0F, end: 0x10)
    _ = try await connection.gatt.subscribe(to: characteristic) { _, _ in }
    link.receive("1b0f0007")
    link.lose(.remote(.connectionTimeout))
    #expect(connection.cost == nil)
  }

  @Test func mtuExchangeTimeoutDisconnectsLink() async {
    let connection = self.connection
    await #expect(throws: StackError.timedOut(.exchangeMTURequest)) {
      try await connection.gatt.exchangeMTU()
    }
    _ = try? await connection.disconnection()
    #expect(connection.loss == .local && connection.cost == LinkCost(.exchangeMTU, isAnswer: true))
  }

  private struct Reference {
    weak var connection: GATTLink?
  }

  /// A peer that stays connected does not advertise.
  @Test func aConnectionThatIsNotUsedAnyMoreEnds() async {
    let link = FakeLink()
    var connection: GATTLink? = link.connection()
    let reference = Reference(connection: connection)
    connection = nil
    #expect(reference.connection == nil)
    await testTimers.sleep(for: .milliseconds(20))
    #expect(link.onClosed == nil)
  }

  // MARK: Writes without response at the end

  /// Where the end of the link drops what is on its way, an answer proves that it has arrived: any answer to a request that was
  /// sent after it.
  @Test(arguments: ["0b01", "01 0a 0100 02"]) func theEndWaitsForAnAnswer(_ response: String) async throws {
    link.dropsPacketsAtEnd = true
    link.answer("0a 0100", response)
    try connection.gatt.writeWithoutResponse([1], to: AttributeHandle(0x10))
    connection.end()
    connection.end()
    #expect(link.takeSent() == ["52100001", "0a0100"])
    #expect(try await connection.disconnection() == .local && !connection.hasUnsentWrites)
  }

  @Test func responseToEarlierRequestDoesNotConfirmWrite() async throws {
    link.dropsPacketsAtEnd = true
    let gatt = connection.gatt
    let read = spawn { try await gatt.read(AttributeHandle(0x20)) }
    await settle()
    try gatt.writeWithoutResponse([1], to: AttributeHandle(0x10))
    link.receive("0b 07")
    #expect(try await read.value == [7])
    #expect(connection.hasUnsentWrites)
    link.answer("0a 2000", "0b 08")
    _ = try await gatt.read(AttributeHandle(0x20))
    #expect(!connection.hasUnsentWrites)
    _ = link.takeSent()
    await connection.disconnect()
    #expect(link.takeSent() == [])
  }

  /// A peer that answers nothing is waited for two seconds.
  @Test func disconnectWaitsTwoSecondsForUnresponsivePeer() async throws {
    link.dropsPacketsAtEnd = true
    try connection.gatt.writeWithoutResponse([1], to: AttributeHandle(0x10))
    let start = testTimers.now
    await connection.disconnect()
    #expect(testTimers.now - start == .milliseconds(2010))
    #expect(connection.hasUnsentWrites)
  }

  /// Elsewhere the link waits itself.
  @Test func disconnectsImmediatelyWhenLinkFlushesItself() async throws {
    try connection.gatt.writeWithoutResponse([1], to: AttributeHandle(0x10))
    await connection.disconnect()
    #expect(link.takeSent() == ["52100001"])
  }
}
