import ATT
import HaloGATT
import HCI
import HaloBluetoothCore
import RingLink
import TestLoop
import Testing

/// A ring whose handles have moved since they were stored, as after an update of its firmware. It works at once, and
/// nothing is written to another attribute.
@BluetoothActor
@Suite(.onTheLoop) struct MovedHandlesTests {
  private static let hash = (0..<16).map { UInt8($0) }

  /// A ring's server: the command service at a handle, other services before it.
  private static func server(at start: UInt16, hash: [UInt8]? = nil) -> Server {
    var server = Server.empty
    if start > 0x0012 {
      // What a wrong handle would hit: a value that can be written, over and over.
      server.addService(BluetoothUUID(UInt16(0xFFF0)), at: 0x000E)
      for handle in stride(from: UInt16(0x0010), to: start - 1, by: 2) {
        server.addCharacteristic(BluetoothUUID(0xFF00 + handle), [.read, .write], at: .init(handle), [1, 2])
      }
    }
    server.addService(RingGATT.commandService, at: .init(start))
    server.addCharacteristic(
      RingGATT.commandWrite, [.write, .writeWithoutResponse], at: .init(start + 1), [])
    server.addCharacteristic(RingGATT.commandNotify, .notify, at: .init(start + 3), [])
    server.addConfiguration(at: .init(start + 5))
    if let hash {
      server.addService(GATTUUID.genericAttribute, at: 0x0080)
      server.addCharacteristic(GATTUUID.databaseHash, .read, at: 0x0081, hash)
    }
    return server
  }

  private func frame() -> [UInt8] {
    var frame: [UInt8] = [0x03, 55, 0] + Array(repeating: 0, count: 12)
    frame.append(frame.reduce(0, &+))
    return frame
  }

  /// A ring that answers commands at its handles, if notifications are enabled there. It notes what is written elsewhere.
  private func place(
    _ server: Server, start: UInt16, on peer: Peer, strays: Strays, configuration: UInt16 = 5
  ) {
    peer.server = server
    let take = { [weak peer] (handle: AttributeHandle, value: [UInt8]) -> Void in
      guard let peer else { return }
      if handle == .init(start + configuration) { return }
      guard handle == .init(start + 2) else { return strays.writes.append(handle) }
      guard peer.server.written[.init(start + configuration)] == [1, 0] else { return }
      peer.notify(.init(start + 4), self.frame(), after: .milliseconds(1))
    }
    peer.onCommand = take
    peer.react = { pdu in
      if let write = pdu as? ATTWriteRequest { take(write.handle, write.value) }
      return .honest
    }
  }

  private final class Strays {
    var writes: [AttributeHandle] = []
  }

  /// The layout of a ring at 0x0010.
  private func layout(hash: [UInt8]? = nil) async throws -> RingLayout {
    let peer = Peer()
    place(Self.server(at: 0x0010, hash: hash), start: 0x0010, on: peer, strays: Strays())
    let (stage, connection) = try await Stage.connected(peer)
    let ring = try await RingClient.open(connection)
    let layout = try #require(ring.layout)
    await connection.disconnect()
    try await stage.checkHealth()
    return layout
  }

  private struct Outcome {
    var requests: [ATTOpcode]
    var layout: RingLayout?
    var isAssumed: Bool
  }

  /// Reads the battery of a ring with a layout; nothing else is written.
  private func readBattery(
    with layout: RingLayout, _ server: Server, start: UInt16, configuration: UInt16 = 5,
    react: ((any ATTPDU) -> Peer.Reaction?)? = nil
  ) async throws -> Outcome {
    let peer = Peer()
    let strays = Strays()
    place(server, start: start, on: peer, strays: strays, configuration: configuration)
    if let react {
      let honest = peer.react
      peer.react = { pdu in react(pdu) ?? honest(pdu) }
    }
    let (stage, connection) = try await Stage.connected(peer)
    let ring = try await RingClient.open(connection, layout: layout)
    #expect(try await ring.battery().percent == 55)
    let outcome = Outcome(
      requests: peer.requests.map(\.opcode), layout: ring.layout, isAssumed: ring.isAssumed)
    #expect(strays.writes == [])
    await connection.disconnect()
    try await stage.checkHealth()
    return outcome
  }

  @Test func handlesThatAreTrueCostNoRoundTrip() async throws {
    let layout = try await layout()
    let outcome = try await readBattery(with: layout, Self.server(at: 0x0010), start: 0x0010)
    // The MTU is exchanged behind the command.
    #expect(outcome.requests == [.findInformationRequest, .writeRequest, .exchangeMTURequest])
    #expect(outcome.layout == layout && outcome.isAssumed)
  }

  /// By one, and by as much as three services.
  @Test(arguments: [UInt16(0x0011), 0x0028]) func movedHandlesAreDiscoveredAgain(start: UInt16) async throws {
    let layout = try await layout()
    let outcome = try await readBattery(with: layout, Self.server(at: start), start: start)
    #expect(outcome.requests.first == .findInformationRequest)
    #expect(outcome.layout?.configuration == .init(start + 5) && !outcome.isAssumed)
  }

  /// A descriptor was added before the one that enables notifications. The command that was sent already is sent again.
  @Test func aDescriptorThatAloneHasMovedIsDiscoveredAgain() async throws {
    let layout = try await layout()
    var server = Server.empty
    server.addService(RingGATT.commandService, at: 0x0010)
    server.addCharacteristic(RingGATT.commandWrite, [.write, .writeWithoutResponse], at: 0x0011, [])
    server.addCharacteristic(RingGATT.commandNotify, .notify, at: 0x0013, [])
    server.attributes.append(
      .init(handle: 0x0015, type: GATTUUID.characteristicUserDescription, value: []))
    server.addConfiguration(at: 0x0016)
    let outcome = try await readBattery(with: layout, server, start: 0x0010, configuration: 6) { pdu in
      guard (pdu as? ATTWriteRequest)?.handle == 0x0015 else { return nil }
      return .send(
        (ATTErrorResponse(request: .writeRequest, handle: 0x0015, code: .writeNotPermitted)))
    }
    #expect(outcome.layout?.configuration == 0x0016 && !outcome.isAssumed)
  }

  /// Invalid Handle, Insufficient Authentication of an attribute that is no ring's, Database Out Of Sync.
  @Test(arguments: [ATTErrorCode(rawValue: 0x01), ATTErrorCode(rawValue: 0x05), ATTErrorCode(rawValue: 0x12)])
  func aRefusalOfTheProofLeadsToDiscovery(code: ATTErrorCode) async throws {
    let layout = try await layout()
    var isFirst = true
    let outcome = try await readBattery(with: layout, Self.server(at: 0x0010), start: 0x0010) { pdu in
      guard isFirst, let range = (pdu as? ATTFindInformationRequest)?.range else { return nil }
      isFirst = false
      return .send(
        ATTErrorResponse(request: .findInformationRequest, handle: range.start, code: code))
    }
    #expect(!outcome.isAssumed && outcome.layout?.configuration == 0x0015)
  }

  @Test func databaseHashValidatesCachedLayout() async throws {
    let layout = try await layout(hash: Self.hash)
    #expect(layout.databaseHash == Self.hash)
    let same = try await readBattery(with: layout, Self.server(at: 0x0010, hash: Self.hash), start: 0x0010)
    #expect(same.requests == [.readByTypeRequest, .writeRequest, .exchangeMTURequest] && same.isAssumed)
    let other = try await readBattery(
      with: layout, Self.server(at: 0x0010, hash: Self.hash.reversed()), start: 0x0010)
    #expect(!other.isAssumed)
  }

  /// A firmware update without a new link. A command that comes before the new handles are known waits for them.
  @Test func aRingThatMovesDuringTheLinkIsFoundAgain() async throws {
    let peer = Peer()
    let strays = Strays()
    place(Self.server(at: 0x0010), start: 0x0010, on: peer, strays: strays)
    let (stage, connection) = try await Stage.connected(peer)
    let ring = try await RingClient.open(connection)
    var layouts: [UInt16?] = []
    ring.onLayoutChange = { [unowned ring] in layouts.append(ring.layout?.configuration.rawValue) }
    #expect(try await ring.battery().percent == 55)
    place(Self.server(at: 0x0028), start: 0x0028, on: peer, strays: strays)
    for handler in connection.gatt.servicesChangedHandlers { handler(HandleRange(0x0010, 0x0015)) }
    #expect(try await ring.battery().percent == 55)
    #expect(layouts == [nil, 0x002D])
    #expect(strays.writes == [])
    await connection.disconnect()
    try await stage.checkHealth()
  }
}
