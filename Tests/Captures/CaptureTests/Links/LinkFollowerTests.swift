import HCI
import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

@testable import HaloCapture

@Suite struct LinkFollowerTests {
  private final class Link: CapturedLink {
    let peer: BluetoothAddress?
    var lastUsed = 0

    init(_ peer: BluetoothAddress?) { self.peer = peer }
  }

  private var follower = LinkFollower<Link>()
  private var number = 0
  /// The handles of the links that began, in order.
  private var began: [UInt16] = []

  /// LE Connection Complete of a link to 30:35:38:41:BE:EF.
  private static func connected(_ handle: UInt16) -> String {
    "04 3e 13 01 00 \(wire(handle)) 00 00 efbe41383530 1800 0000 4800 00"
  }

  private static func wire(_ handle: UInt16) -> String {
    Hex.string([UInt8(handle & 0xFF), UInt8(handle >> 8)])
  }

  private mutating func info(_ adapter: UInt16?) -> CaptureRecordInfo {
    number += 1
    return CaptureRecordInfo(
      number: number, microseconds: 0, adapter: adapter, content: .hci(.controllerToHost), originalLength: 0)
  }

  /// - Returns: why links have ended
  @discardableResult
  private mutating func take(_ digits: String, adapter: UInt16? = nil) -> [HCIErrorCode?] {
    let (info, packet) = (info(adapter), hex(digits.filter { $0 != " " }))
    var new: [UInt16] = []
    guard let change = LinkChange(packet.span.bytes) else { return [] }
    let ended = follower.take(change, info) { link in
      new.append(link.handle.rawValue)
      return Link(link.peer)
    }
    began += new
    return ended.map(\.reason)
  }

  /// - Returns: the address of the peer; nil for a link that begins with this data
  @discardableResult
  private mutating func data(_ handle: UInt16, adapter: UInt16? = nil) -> BluetoothAddress? {
    let info = info(adapter)
    let handle = ConnectionHandle(rawValue: handle)
    let link = follower.use(handle, info) ?? follower.discover(handle, info) { Link($0.peer) }?.link
    return link?.peer
  }

  private static let peer = BluetoothAddress(0x3035_3841_BEEF, .public)

  @Test mutating func aLinkIsThatOfItsHandleUntilItEnds() {
    #expect(take(Self.connected(0x40)).isEmpty && data(0x40) == Self.peer)
    #expect(data(0x41) == nil)
    #expect(data(0x40, adapter: 1) == nil)
    #expect(take("04 05 04 00 4000 13") == [.remoteUserTerminatedConnection])
    #expect(data(0x40) == nil)
    // The end is known, although the capture does not have the reason.
    #expect(take("04 05 04 00 4000") == [nil])
    #expect(take("04 05 04 00 4000 13").isEmpty)
  }

  @Test mutating func failedConnectionCreatesNoLink() {
    #expect(take(Self.connected(0x40).replacing("01 00", with: "01 3e")).isEmpty)
    take("04 03 0b 04 4000 efbe41383530 01 00")
    #expect(began.isEmpty)
    take(Self.connected(0x40))
    #expect(take("04 05 04 02 4000 13").isEmpty && data(0x40) == Self.peer)
  }

  @Test mutating func aHandleThatIsGivenAgainEndsTheLinkBefore() {
    take(Self.connected(0x40))
    #expect(take(Self.connected(0x40)) == [nil])
    #expect(began == [0x40, 0x40] && follower.open.count == 1)
  }

  @Test mutating func aResetEndsTheLinksOfItsAdapter() {
    take(Self.connected(0x40))
    take(Self.connected(0x41))
    take(Self.connected(0x40), adapter: 1)
    #expect(take("04 0e 04 01 030c 00") == [nil, nil])
    #expect(data(0x40) == nil && data(0x40, adapter: 1) == Self.peer)
  }

  /// BR/EDR, voice, and isochronous streams of a command and of an event.
  @Test mutating func otherLinksHaveAPeerToo() {
    take("04 03 0b 00 4200 efbe41383530 01 00")
    take("04 2c 11 00 4300 efbe41383530 02 00 00 0000 0000 02")
    take("01 6420 09 02 5000 4200 5100 4f00")
    take("04 3e 07 1a 4200 5200 00 00")
    #expect(began == [0x42, 0x43, 0x50, 0x52])
    for handle in [UInt16(0x42), 0x43, 0x50, 0x52] { #expect(data(handle) == Self.peer) }
  }

  @Test mutating func theLinkThatWasNotUsedForLongestIsForgotten() {
    take(Self.connected(0))
    take(Self.connected(1))
    data(0)
    for handle in 2...UInt16(LinkFollower<Link>.capacity) { take(Self.connected(handle)) }
    #expect(follower.open.count == LinkFollower<Link>.capacity)
    #expect(data(0) == Self.peer && data(1) == nil)
  }

  @Test mutating func controllerDebugOutputCreatesNoLink() {
    data(ConnectionHandle.controllerDebug.rawValue)
    #expect(follower.open.isEmpty)
  }
}
