import HCI
import HaloBluetoothCore
import HaloSecurityManager
import L2CAP

/// Finds out whether a peer that ends its links has asked for pairing. The kernel answers that on its own and does not report
/// it. The raw channel shows the data of all links, which cost a wake-up each: they are read for some seconds only, after a
/// peer has ended a link that was just made.
@BluetoothActor
final class PairingWatch {
  /// A link that its peer ends earlier was just made; the data of the next one are looked at for as long.
  static let earlyTime = Duration.seconds(5)
  /// How long the next link is waited for.
  private static let patience = Duration.seconds(60)

  /// Called with whether the raw channel is to show data.
  var onChange: ((Bool) -> Void)?
  private let timers: Timers
  private var requests: Set<ConnectionHandle> = []
  private var end: Timers.Token?

  init(_ timers: Timers) {
    self.timers = timers
  }

  /// A peer has ended a link within ``earlyTime``, and has not said why.
  func lostEarly() {
    if end == nil { onChange?(true) }
    stop(after: Self.patience)
  }

  /// The raw channel is gone; the next one shows no data.
  func reset() {
    timers.cancel(end.take())
    requests = []
  }

  func created(_ handle: ConnectionHandle) {
    requests.remove(handle)
    if end != nil { stop(after: Self.earlyTime) }
  }

  private func stop(after time: Duration) {
    timers.cancel(end)
    end = timers.schedule(after: time) { [weak self] in
      self?.end = nil
      self?.onChange?(false)
    }
  }

  /// Takes an ACL packet of any link, with its H4 type byte. A request is a frame of a few bytes, which is not cut.
  func receive(_ packet: RawSpan) {
    guard let packet = try? ACLPacket(packet.extracting(1..<packet.byteCount)) else { return }
    var reader = ByteReader(packet.data)
    guard packet.header.boundary != .continuing, let frame = try? BasicHeader(parsing: &reader),
      frame.channel == .securityManager,
      PairingRefusal.answer(to: packet.data.extracting(BasicHeader.length..<packet.data.byteCount)) != nil
    else { return }
    requests.insert(packet.header.handle)
  }

  /// Whether one end of the link has asked for pairing.
  func hasRequest(on handle: ConnectionHandle) -> Bool { requests.contains(handle) }
}
