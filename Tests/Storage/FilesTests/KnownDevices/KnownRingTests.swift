import ATT
import GAP
import HaloGATT
import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import RingLink
import TestLoop
import TestSupport
import Testing
import HaloSimulation
@testable import HaloStorage

/// Counts the ATT requests and commands that pass on their way to the controller.
@BluetoothActor
private final class CountingTransport: HCITransportLayer {
  private(set) var requests: [ATTOpcode] = []
  let transport: any HCITransport

  init(_ options: VirtualRingOptions) {
    transport = VirtualTransport(options, timers: testTimers)
  }

  func send(_ packet: RawSpan) {
    // Type, ACL header, L2CAP header; then the ATT PDU.
    if packet.byte(at: 0) == HCIPacketType.acl.rawValue, packet.byte(at: 7) == 4,
      let first = packet.byte(at: 9)
    {
      let opcode = ATTOpcode(rawValue: first)
      if opcode.kind == .request { requests.append(opcode) }
    }
    transport.send(packet)
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
    let connection = try await central.connect(ConnectionRequest(peer: options.address))
    let ring = try await RingClient.open(connection, layout: layout)
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
    let layout = try #require(
      KnownRing(name: nil, peer: PeerIdentity(options.address), layout: first.layout).layout)
    #expect(layout.configuration == first.layout?.configuration)
    let second = try await stream(options, layout: layout)
    // The proof of the handles, and notifications; the command follows without response, and does not wait for the MTU.
    #expect(second.requests == [.findInformationRequest, .writeRequest, .exchangeMTURequest])
  }

  @Test func rediscoversStaleLayout() async throws {
    let options = VirtualRingOptions()
    var layout = try #require(try await stream(options, layout: nil).layout)
    layout.configuration = 0x0FFF
    let result = try await stream(options, layout: layout)
    #expect(result.requests.first == .findInformationRequest)
    #expect(result.layout?.configuration == 0x0013)
  }

  @Test func theHashOfTheAttributesIsKept() throws {
    let hash = (0..<16).map { UInt8($0) }
    let characteristic = Characteristic(
      uuid: RingGATT.commandNotify, properties: .notify, declaration: 2, valueHandle: 3, end: 4)
    let layout = RingLayout(
      commandWrite: characteristic, commandNotify: characteristic, configuration: 4, firmwareRevision: nil,
      databaseHash: hash)
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/rings.json"
    var known = KnownRings(path: path, report: { _ in })
    known.remember(KnownRing(name: nil, peer: PeerIdentity(BluetoothAddress(1, .random)), layout: layout))
    #expect(KnownRings(path: path, report: { _ in }).rings.first?.layout?.databaseHash == hash)
  }

  @Test func ringsAreKeptInAFile() throws {
    var template = Array("/tmp/halo-raw-test-XXXXXX".utf8CString)
    let directory = try #require(mkdtemp(&template).map { String(cString: $0) })
    let path = directory + "/state/rings.json"
    defer {
      unlink(path)
      unlink(path + ".lock")
      rmdir(directory + "/state")
      rmdir(directory)
    }
    let address = try #require(BluetoothAddress("C0:11:22:33:A1:B2/random"))
    var known = KnownRings(path: path, report: { _ in })
    #expect(known.rings.isEmpty)
    known.remember(KnownRing(name: "R02_A1B2", peer: PeerIdentity(address), layout: nil))
    known.remember(KnownRing(name: nil, peer: PeerIdentity(address), layout: nil))
    var again = KnownRings(path: path, report: { _ in })
    #expect(again.rings.map(\.name) == ["R02_A1B2"])
    #expect(again.only(.anyRing)?.peer?.address == address)
    #expect(again.only(.name("r02_a1b2")) != nil)
    #expect(again.only(.address(address.value, .public)) == nil)
    again.remember(KnownRing(name: "R02_0000", peer: PeerIdentity(BluetoothAddress(1, .public)), layout: nil))
    #expect(again.only(.anyRing) == nil)
    #expect(again.forget(.name("R02_A1B2")).count == 1)
    #expect(KnownRings(path: path, report: { _ in }).rings.map(\.name) == ["R02_0000"])
  }

  /// No ring tells what its clock was set to.
  @Test func keepsClockRecordWithoutLayout() throws {
    var known = KnownRings(path: nil, report: { _ in })
    let address = try #require(BluetoothAddress("C0:11:22:33:A1:B2/random"))
    let clock = ClockRecord(set: 1_763_733_600, policy: .utc, utcOffset: 0)
    known.remember(KnownRing(name: "R02_A1B2", peer: PeerIdentity(address), layout: nil))
    known.remember(clock, of: PeerIdentity(address))
    known.remember(KnownRing(name: nil, peer: PeerIdentity(address), layout: nil))
    #expect(known.rings.map(\.clock) == [clock])
    known.forgetLayout(of: PeerIdentity(address))
    #expect(known.rings.map(\.clock) == [clock] && known.rings.map(\.name) == ["R02_A1B2"])
    #expect(known.forget(.anyRing).count == 1 && known.rings.isEmpty)
  }

  private nonisolated static let clock = #""clock":{"policy":"utc","set":1763733600,"utcOffset":0}"#

  private nonisolated static func ring(_ fields: String, address: String = "C0:11:22:33:A1:B2") -> String {
    #"[{"address":"\#(address)","type":"random"\#(fields.isEmpty ? "" : ",")\#(fields)}]"#
  }

  /// Files that no version has written: each is kept beside, a line says so, and what comes after is remembered.
  @Test(arguments: [
    "", "{", "[{\"name\":3}]", "null", "[{}]", "{\"version\":\"x\"}", "\u{0}", "[[[[",
    String(repeating: "[", count: 100_000), String(repeating: " ", count: 300_000),
    "[" + String(repeating: ring("").dropFirst().dropLast() + ",", count: 256) + ring("").dropFirst(),
    ring("", address: "nowhere"), ring(#""name":"\#(String(repeating: "x", count: 600))""#),
    ring(clock.replacing("1763733600", with: "9223372036854775807")),
    ring(clock.replacing("1763733600", with: "-9223372036854775808")),
    ring(clock.replacing("1763733600", with: "-1")), ring(clock.replacing("1763733600", with: "4294967296")),
    ring(clock.replacing("1763733600", with: "1e400")),
    ring(clock.replacing(":0}", with: ":9223372036854775807}")),
    ring(clock.replacing(":0}", with: ":-86401}")), ring(clock.replacing("utc\"", with: "mars\"")),
    ring(#""databaseHash":"00""#),
    ring(#""handles":{"write":65536,"writeProperties":0,"notify":1,"notifyProperties":0,"configuration":2}"#),
    ring(#""handles":{"write":-1,"writeProperties":0,"notify":1,"notifyProperties":0,"configuration":2}"#),
  ])
  func aDamagedFileIsKeptBeside(text: String) throws {
    let folder = try Folder()
    defer { folder.remove() }
    folder.write("state/rings.json", text)
    let path = folder.path + "/state/rings.json"
    var lines: [String] = []
    var known = KnownRings(path: path) { lines.append($0) }
    #expect(known.rings.isEmpty)
    #expect(lines == ["the file of known rings is damaged; it was renamed to \(path).damaged"])
    #expect(folder.names(in: "state") == ["rings.json.damaged", "rings.json.lock"])
    known.remember(KnownRing(name: "R02_A1B2", peer: PeerIdentity(BluetoothAddress(1, .random)), layout: nil))
    #expect(KnownRings(path: path) { lines.append($0) }.rings.map(\.name) == ["R02_A1B2"])
    #expect(lines.count == 1)
  }

  @Test func readsValidClockRecord() throws {
    let folder = try Folder()
    defer { folder.remove() }
    folder.write("state/rings.json", Self.ring(Self.clock))
    let known = KnownRings(path: folder.path + "/state/rings.json", report: { _ in })
    #expect(known.rings.map(\.clock?.set) == [1_763_733_600])
  }

  @Test func keepsFileOfNewerVersion() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let text = #"{"version":2,"rings":[]}"#
    folder.write("state/rings.json", text)
    let path = folder.path + "/state/rings.json"
    var lines: [String] = []
    var known = KnownRings(path: path) { lines.append($0) }
    known.remember(KnownRing(name: "R02_A1B2", peer: PeerIdentity(BluetoothAddress(1, .random)), layout: nil))
    #expect(known.rings.count == 1, "for this run")
    #expect(folder.text(of: "state/rings.json") == text)
    #expect(
      lines.count == 1
        && lines[0].hasSuffix("was written by a newer version of this program; it is not changed"))
  }

  @Test func theOldestOfTooManyIsForgotten() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/state/rings.json"
    let entries = (0..<256).map {
      Self.ring(#""name":"\#($0)""#, address: BluetoothAddress(UInt64($0), .random).description).dropFirst()
        .dropLast()
    }
    folder.write("state/rings.json", "[" + entries.joined(separator: ",") + "]")
    var known = KnownRings(path: path, report: { _ in })
    known.remember(KnownRing(name: "new", peer: PeerIdentity(BluetoothAddress(1000, .random)), layout: nil))
    let rings = KnownRings(path: path, report: { _ in }).rings
    #expect(rings.count == 256 && rings.first?.name == "1" && rings.last?.name == "new")
  }

  /// Names that fill the file: it stays small enough to be read again.
  @Test func writtenFileStaysReadable() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/state/rings.json"
    func ring(_ number: UInt64) -> KnownRing {
      KnownRing(
        name: String(repeating: "\u{1}", count: 500), peer: PeerIdentity(BluetoothAddress(number, .random)),
        layout: nil)
    }
    folder.write("state/rings.json", JSONValue.array((0..<80).map { ring($0).json }).text)
    for number in 80..<90 as Range<UInt64> {
      var known = KnownRings(path: path, report: { _ in })
      known.remember(ring(number))
    }
    var lines: [String] = []
    let rings = KnownRings(path: path) { lines.append($0) }.rings
    #expect(rings.last?.peer?.address == BluetoothAddress(89, .random) && lines == [])
    #expect((70..<90).contains(rings.count))
  }

  /// Twelve programs that have all read the file before one writes.
  @Test func changesOfOthersAreKept() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/state/rings.json"
    let programs = (0..<12).map { _ in KnownRings(path: path, report: { _ in }) }
    for (index, program) in programs.enumerated() {
      var program = program
      program.remember(
        KnownRing(name: "\(index)", peer: PeerIdentity(BluetoothAddress(UInt64(index), .random)), layout: nil)
      )
    }
    #expect(KnownRings(path: path, report: { _ in }).rings.map(\.name) == (0..<12).map { "\($0)" })
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(stat(folder.path + "/state", &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test func aLockThatIsHeldIsNotWaitedForForever() throws {
    let folder = try Folder()
    defer { folder.remove() }
    folder.write("state/x", "")
    let path = folder.path + "/state/rings.json"
    let lock = try FileLock.acquire(path + ".lock", timeout: 2000)
    var lines: [String] = []
    var known = KnownRings(path: path) { lines.append($0) }
    known.remember(KnownRing(name: "R02_A1B2", peer: PeerIdentity(BluetoothAddress(1, .random)), layout: nil))
    #expect(
      lines == ["cannot store what is new about the ring: \(path).lock: another process holds its lock"])
    withExtendedLifetime(lock) {}
  }
}
