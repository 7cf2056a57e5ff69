import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// What a link over the kernel's sockets tells and can do: events, the signal, its PHY, and what is left when it is gone.
@BluetoothActor
@Suite(.onTheLoop) struct KernelLinkPropertyTests {
  private let stage = KernelStage()

  @Test func reportsConnectionParameterChanges() async throws {
    stage.connected()
    let staged = try StagedLink(stage, .accept)
    var events: [LinkEvent] = []
    staged.link.onEvent = { events.append($0) }
    #expect(staged.link.parameters?.interval == ConnectionInterval(rawValue: 10))
    stage.updated(interval: "5000")
    let changed = LinkParameters(
      interval: ConnectionInterval(rawValue: 80), latency: 2,
      supervisionTimeout: SupervisionTimeout(rawValue: 300))
    #expect(events == [.change(.parameters(changed))] && staged.link.parameters == changed)
    // An event of another link.
    stage.updated("4100", interval: "6000")
    #expect(events.count == 1)
    staged.link.lose(.local)
    stage.updated(interval: "6000")
    #expect(events.count == 1 && staged.losses == [.local])
    #expect(staged.link.peer == KernelStage.peer && staged.link.handle == KernelStage.handle)
  }

  /// The controller is asked for its signal; a link whose handle is not known has none.
  @Test func theSignalIsTheControllers() async throws {
    let staged = try StagedLink(stage)
    stage.machine.silent = [ReadRSSI.opcode]
    let task = spawn { try await staged.link.readRSSI() }
    await settle()
    #expect(stage.takeSent(ReadRSSI.opcode) == ["010514024000"])
    stage.receive("040e0701 0514 00 4000 c4")
    #expect(try await task.value == -60)
    let unknown = try StagedLink(stage, handle: nil)
    #expect(try await unknown.link.readRSSI() == nil)
    for link in [staged, unknown] { link.link.lose(.local) }
  }

  /// A socket that is none of Bluetooth's has no PHY, and the kernel no command for the data length.
  @Test func reportsUnsupportedLinkPreferences() async throws {
    let staged = try StagedLink(stage)
    var events: [String] = []
    staged.link.onEvent = { if case .change(.rejected(let error)) = $0 { events.append("\(error)") } }
    staged.link.request(LinkPreferences())
    #expect(events == [])
    staged.link.request(LinkPreferences.standard)
    #expect(events.count == 2 && events[0].hasPrefix("cannot change the PHY: "))
    #expect(events.last == "\(StackError("change the data length", .notOffered))")
    #expect(staged.link.phys == nil)
    staged.link.lose(.local)
  }

  @Test func disconnectedLinkIgnoresRequests() async throws {
    stage.connected()
    let staged = try StagedLink(stage)
    staged.link.disconnect()
    // Its end is on the way: parameters are not restored any more.
    stage.updated(interval: "5000")
    #expect(stage.takeSent(LEConnectionUpdate.opcode) == [])
    staged.link.lose(.remote(.connectionTimeout))
    #expect(staged.losses == [.local], "it was this machine's wish")
    var results: [StackError?] = []
    staged.link.update(StagedLink.wanted) { if case .failure(let error) = $0 { results.append(error) } }
    staged.link.setPHYs(.le2M) { if case .failure(let error) = $0 { results.append(error) } }
    #expect(results == [.notConnected, .notConnected])
    staged.link.lose(.local)
    staged.link.finish()
    staged.link.disconnect()
    await testTimers.sleep(for: .seconds(5))
    #expect(staged.losses.count == 1 && stage.machine.notes == [])
  }

  /// An update that was under way ends with the link.
  @Test func anUpdateEndsWithTheLink() async throws {
    let staged = try StagedLink(stage)
    var results: [StackError?] = []
    staged.link.update(StagedLink.wanted) { if case .failure(let error) = $0 { results.append(error) } }
    await settle()
    #expect(results == [])
    staged.link.lose(.local)
    #expect(results == [.notConnected])
  }

  @Test func theRoomOfItsSocketIsItsRoom() async throws {
    let staged = try StagedLink(stage)
    var rooms = 0
    staged.link.onRoom = { rooms += 1 }
    #expect(staged.link.hasRoom)
    var sent = 0
    while staged.link.hasRoom, sent < 100_000 {
      staged.link.send(hex("52010007").span.bytes)
      sent += 1
    }
    #expect(!staged.link.hasRoom && rooms == 0)
    for _ in 0..<1000 where rooms == 0 {
      while !staged.pair.read().isEmpty {}
      await settle()
    }
    #expect(rooms == 1 && staged.link.hasRoom && staged.link.droppedPackets == 0)
    staged.link.lose(.local)
    #expect(stage.adapter.droppedPackets == 0)
  }

  /// All links are lost with the adapter, each once.
  @Test func linksAreLostWithTheAdapter() async throws {
    let links = [try StagedLink(stage), try StagedLink(stage, handle: ConnectionHandle(rawValue: 0x41))]
    stage.machine.devices = []
    #expect(!stage.adapter.isUsable())
    await testTimers.sleep(for: .milliseconds(301))
    let failure = StackError("go on with hci0", .adapterRemoved)
    #expect(links.map(\.losses) == [[.adapter(failure)], [.adapter(failure)]])
    #expect(stage.machine.failures == [failure])
  }
}
