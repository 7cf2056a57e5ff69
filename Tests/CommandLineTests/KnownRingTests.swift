import ATT
import BluetoothCore
import EventLoop
import GATTClient
import Glibc
import HCI
import RingLink
import TestSupport
import Testing
import VirtualRing

@testable import halo_raw

/// Counts the ATT requests and commands that pass on their way to the controller.
@BluetoothActor
private final class CountingTransport: HCITransport {
  var onPacket: ((RawSpan, Instant) -> Void)? {
    get { base.onPacket }
    set { base.onPacket = newValue }
  }
  var onClose: ((String) -> Void)? {
    get { base.onClose }
    set { base.onClose = newValue }
  }
  private(set) var requests: [ATTOpcode] = []
  private let base: VirtualTransport

  init(_ options: VirtualRingOptions) {
    base = VirtualTransport(options)
  }

  func start() { base.start() }
  func close() { base.close() }

  func send(_ packet: RawSpan) {
    // Type, ACL header, L2CAP header; then the ATT PDU.
    if packet.byte(at: 0) == HCIPacketType.acl.rawValue, packet.byte(at: 7) == 4,
      let first = packet.byte(at: 9)
    {
      let opcode = ATTOpcode(rawValue: first)
      if opcode.kind == .request { requests.append(opcode) }
    }
    base.send(packet)
  }
}

@BluetoothActor
@Suite(.onTheLoop) struct KnownRingTests {
  /// Opens the ring with that layout, streams, and gives the requests up to the first sample, and the layout.
  private func stream(
    _ options: VirtualRingOptions, layout: RingLayout?
  ) async throws -> (requests: [ATTOpcode], layout: RingLayout?) {
    let transport = CountingTransport(options)
    let central = Central(HCIAdapter(transport))
    try await central.start()
    let client = try await central.connect(ConnectionRequest(peer: options.address))
    let ring = try await Ring.open(client, layout: layout)
    var atFirstSample: [ATTOpcode]?
    try await ring.startRawStream { _, _ in atFirstSample = atFirstSample ?? transport.requests }
    await ring.stopRawStream()
    await central.stop()
    return (try #require(atFirstSample), ring.layout)
  }

  @Test func aKnownRingStreamsAfterTwoRoundTrips() async throws {
    let options = VirtualRingOptions()
    let first = try await stream(options, layout: nil)
    #expect(first.requests.count > 5)
    let layout = try #require(KnownRing(name: nil, address: options.address, layout: first.layout).layout)
    #expect(layout.configuration == first.layout?.configuration)
    let second = try await stream(options, layout: layout)
    #expect(second.requests == [.writeRequest, .writeRequest])
  }

  @Test func aLayoutThatIsNotTrueIsDiscoveredAnew() async throws {
    let options = VirtualRingOptions()
    var layout = try #require(try await stream(options, layout: nil).layout)
    layout.configuration = 0x0FFF
    let result = try await stream(options, layout: layout)
    #expect(result.requests.first == .writeRequest)
    #expect(result.layout?.configuration == 0x0013)
  }

  @Test func ringsAreKeptInAFile() throws {
    var template = Array("/tmp/halo-raw-test-XXXXXX".utf8CString)
    let directory = try #require(mkdtemp(&template).map { String(cString: $0) })
    let path = directory + "/state/rings.json"
    defer {
      unlink(path)
      rmdir(directory + "/state")
      rmdir(directory)
    }
    let address = try #require(BluetoothAddress("C0:11:22:33:A1:B2/random"))
    var known = KnownRings(path: path)
    #expect(known.rings.isEmpty)
    known.remember(KnownRing(name: "R02_A1B2", address: address, layout: nil))
    known.remember(KnownRing(name: nil, address: address, layout: nil))
    var again = KnownRings(path: path)
    #expect(again.rings.map(\.name) == ["R02_A1B2"])
    #expect(again.only(.anyRing)?.bluetoothAddress == address)
    #expect(again.only(.name("r02_a1b2")) != nil)
    #expect(again.only(.address(address.value, .public)) == nil)
    again.remember(KnownRing(name: "R02_0000", address: BluetoothAddress(1, .public), layout: nil))
    #expect(again.only(.anyRing) == nil)
    #expect(again.forget(.name("R02_A1B2")).count == 1)
    #expect(KnownRings(path: path).rings.map(\.name) == ["R02_0000"])
  }

  /// No ring tells what its clock was set to.
  @Test func whatAClockWasSetToOutlivesTheLayout() throws {
    var known = KnownRings(path: nil)
    let address = try #require(BluetoothAddress("C0:11:22:33:A1:B2/random"))
    let clock = ClockRecord(set: 1_763_733_600, policy: .utc, utcOffset: 0)
    known.remember(KnownRing(name: "R02_A1B2", address: address, layout: nil))
    known.remember(clock, of: address)
    known.remember(KnownRing(name: nil, address: address, layout: nil))
    #expect(known.rings.map(\.clock) == [clock])
    known.forgetLayout(of: address)
    #expect(known.rings.map(\.clock) == [clock] && known.rings.map(\.name) == ["R02_A1B2"])
    #expect(known.forget(.anyRing).count == 1 && known.rings.isEmpty)
  }

  @Test(arguments: ["", "{", "[]", "[{\"name\":3}]", "null", "[{}]"])
  func aDamagedFileIsAnEmptyOne(text: String) throws {
    var template = Array("/tmp/halo-raw-test-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    let path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    defer { unlink(path) }
    #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
    close(descriptor)
    #expect(KnownRings(path: path).rings.isEmpty)
  }
}
