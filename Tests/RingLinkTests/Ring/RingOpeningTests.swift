import ATT
import HaloGATT
import HaloBluetoothCore
import TestLink
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// Opening a ring: what is asked, in which order, and what becomes of frames whose ring has other handles than before.
@BluetoothActor
@Suite(.onTheLoop) struct RingOpeningTests {
  /// A ring that has its attributes somewhere, and answers each battery request.
  @BluetoothActor private final class Device {
    let link = FakeLink()
    let server: InMemoryServer
    var frames: [RingFrame] = []
    let write: AttributeHandle
    let notify: AttributeHandle

    /// - Parameters:
    ///   - start: the first handle of the ring's service
    ///   - descriptors: whether the notified characteristic has a description before its configuration
    ///   - hash: the Database Hash; nil for none
    init(
      from start: UInt16 = 0x0E, describes: Bool = false, hash: UInt8? = nil,
      firmware: String? = "RT11CR_1.00.08",
      confirms: Bool = false
    ) {
      let table = AttributeDatabase()
      if let hash {
        table.addService(GATTUUID.genericAttribute, at: 1)
        table.addCharacteristic(GATTUUID.databaseHash, .read, value: Array(repeating: hash, count: 16))
      }
      table.addService(RingGATT.commandService, at: AttributeHandle(start))
      write = table.addCharacteristic(
        RingGATT.commandWrite, confirms ? .write : [.write, .writeWithoutResponse])
      notify = table.addCharacteristic(RingGATT.commandNotify, .notify)
      var attributes = table.attributes
      if describes, let configuration = attributes.indices.last {
        var moved = attributes[configuration]
        attributes[configuration] = ServerAttribute(
          handle: moved.handle, type: BluetoothUUID(0x2901 as UInt16), value: [0x61])
        moved.handle = AttributeHandle(moved.handle.rawValue + 1)
        attributes.append(moved)
        for index in attributes.indices where attributes[index].groupEnd != nil {
          if attributes[index].handle.rawValue == start { attributes[index].groupEnd = moved.handle }
        }
      }
      if let firmware {
        let information = AttributeDatabase()
        information.addService(RingGATT.deviceInformationService, at: 0x40)
        information.addCharacteristic(RingGATT.firmwareRevision, .read, value: Array(firmware.utf8))
        attributes += information.attributes
      }
      server = InMemoryServer(AttributeDatabase(attributes), mtu: 247)
      server.server.onEvent = { [weak self] event in
        if case .written(let handle, let value) = event { self?.written(value, to: handle) }
      }
      link.server = { [weak self] pdu in self?.answer(pdu) }
    }

    private func answer(_ pdu: [UInt8]) -> [UInt8]? { server.receive(pdu.span.bytes).first }

    private func written(_ value: [UInt8], to handle: AttributeHandle) {
      guard handle == write, let frame = try? RingFrame(parsing: value.span.bytes) else { return }
      frames.append(frame)
      // A ring that does not notify keeps its answer.
      guard server.server.configuration(of: notify) == .notify else { return }
      let reply = ATTHandleValueNotification(notify, value: RingFrame(frame.command, 64).bytes)
      link.timers.schedule(after: .milliseconds(1)) { [link] in link.receive(Hex.string(Array(reply.bytes))) }
    }
  }

  private let battery = CommandTable.battery.command

  /// - Parameter device: of no other use: its link ends with the ring
  private func layout(of device: Device) async throws -> RingLayout {
    let ring = try await RingClient.open(device.link.connection())
    return try #require(ring.layout)
  }

  private func error(_ work: () async throws(RingError) -> Void) async -> RingError? {
    do throws(RingError) {
      try await work()
      return nil
    } catch {
      return error
    }
  }

  @Test func withoutALayoutItIsDiscovered() async throws {
    let device = Device(hash: 7)
    let ring = try await RingClient.open(device.link.connection())
    #expect(!ring.isAssumed && ring.firmware.firmwareRevision == "RT11CR_1.00.08")
    let layout = try #require(ring.layout)
    #expect(
      layout.commandWrite.valueHandle == device.write && layout.commandNotify.valueHandle == device.notify)
    #expect(layout.configuration == 0x13 && layout.databaseHash == Array(repeating: 7, count: 16))
    #expect(layout.firmwareRevision == "RT11CR_1.00.08")
    // The larger MTU is asked for first, and nothing of other services.
    let sent = device.link.takeSent()
    #expect(sent.first?.hasPrefix("02") == true)
    #expect(!sent.contains { $0.hasPrefix("10") })
    #expect(device.server.server.configuration(of: device.notify) == .notify)
    #expect(try await ring.battery().percent == 64)
  }

  /// What is written to these two makes a ring do something.
  @Test func commandsAreTakenAtTwoCharacteristics() {
    let others = [
      RingGATT.commandNotify, RingGATT.bulkNotify, RingGATT.commandService, RingGATT.firmwareRevision,
    ]
    #expect(RingGATT.takesCommands(RingGATT.commandWrite) && RingGATT.takesCommands(RingGATT.bulkWrite))
    #expect(!others.contains(where: RingGATT.takesCommands))
  }

  @Test func rejectsDeviceThatIsNotARing() async throws {
    let device = Device()
    device.server.server.database.removeService(at: 0x0E)
    let connection = device.link.connection()
    let reason = await error { () throws(RingError) in _ = try await RingClient.open(connection) }
    #expect(reason == .notARing([RingGATT.deviceInformationService]))
  }

  /// The first frame follows the write that enables notifications without waiting for its answer.
  @Test func withALayoutTheFirstFrameFollowsTheProof() async throws {
    let layout = try await layout(of: Device())
    let device = Device()
    let ring = try await RingClient.open(device.link.connection(), layout: layout)
    #expect(ring.isAssumed && ring.firmware.firmwareRevision == "RT11CR_1.00.08")
    #expect(!ring.confirmsFrames)
    try ring.dispatcher.post(RingFrame(battery))
    // Find Information of the notified value; the configuration; the frame.
    let frame = Hex.string(RingFrame(battery).bytes)
    #expect(device.link.takeSent() == ["0412001200", "1213000100", "521000" + frame])
    await testTimers.sleep(for: .seconds(1))
    // The ring has confirmed that it notifies: frames are confirmed, too, from now on, and the first is not repeated.
    #expect(ring.confirmsFrames && device.frames.count == 1)
    #expect(try await ring.battery().percent == 64)
    #expect(device.link.takeSent().filter { $0.hasPrefix("12") } == ["121000" + frame])
  }

  /// A ring that takes no writes without response is waited for.
  @Test func aRingThatConfirmsEachWriteIsWaitedFor() async throws {
    let layout = try await layout(of: Device(confirms: true))
    let device = Device(confirms: true)
    let ring = try await RingClient.open(device.link.connection(), layout: layout)
    #expect(ring.isAssumed && ring.confirmsFrames)
    // Find Information, Write Request, and Exchange MTU, for which nothing waits.
    #expect(device.link.takeSent() == ["0412001200", "1213000100", "020502"])
    #expect(try await ring.battery().percent == 64)
  }

  /// The value is where it was, and its configuration is not: what was sent before that was known is sent again.
  @Test func framesThatTheRingCannotHaveAnsweredAreSentAgain() async throws {
    let layout = try await layout(of: Device())
    let device = Device(describes: true)
    let ring = try await RingClient.open(device.link.connection(), layout: layout)
    var changes = 0
    ring.onLayoutChange = { changes += 1 }
    #expect(try await ring.battery().percent == 64)
    #expect(device.frames.map(\.command) == [battery, battery])
    #expect(!ring.isAssumed && ring.layout?.configuration == 0x14)
    // Not known for a moment, then known.
    #expect(changes == 2)
    #expect(try await ring.battery().percent == 64)
    #expect(device.frames.count == 3)
  }

  /// Nothing is written to handles that are something else's.
  @Test func rediscoversStaleLayout() async throws {
    let layout = try await layout(of: Device())
    let device = Device(from: 0x20)
    let ring = try await RingClient.open(device.link.connection(), layout: layout)
    #expect(!ring.isAssumed && ring.layout?.commandNotify.valueHandle == device.notify)
    let writes = device.link.takeSent().filter { $0.hasPrefix("12") || $0.hasPrefix("52") }
    #expect(writes == ["1225000100"])
    #expect(try await ring.battery().percent == 64)
  }

  /// The hash covers all of a server's attributes: one request proves the layout, or shows that it is another.
  @Test(arguments: [UInt8(7), 8]) func theHashProvesALayout(_ hash: UInt8) async throws {
    let layout = try await layout(of: Device(hash: 7))
    let device = Device(hash: hash)
    let ring = try await RingClient.open(device.link.connection(), layout: layout)
    #expect(ring.isAssumed == (hash == 7))
    await testTimers.sleep(for: .milliseconds(100))
    let sent = device.link.takeSent()
    // Read By Type of the Database Hash.
    #expect(sent.first == "080100ffff2a2b")
    #expect(ring.layout?.databaseHash == Array(repeating: hash, count: 16))
    if hash == 7 { #expect(sent.count == 3 && sent.last == "020502") }
  }

  /// The firmware may have changed with the layout staying: the program learns it, and stores it anew.
  @Test func detectsFirmwareChange() async throws {
    let layout = try await layout(of: Device())
    let device = Device(firmware: "RT11CR_1.00.09")
    let ring = try await RingClient.open(device.link.connection(), layout: layout)
    #expect(ring.firmware.firmwareRevision == "RT11CR_1.00.08")
    #expect(try await ring.identify() == false)
    #expect(ring.firmware.firmwareRevision == "RT11CR_1.00.09")
    #expect(try await ring.identify())
    #expect(ring.layout?.firmwareRevision == "RT11CR_1.00.09")
  }
}
