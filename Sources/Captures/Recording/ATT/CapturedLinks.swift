import BluetoothCore
import HCI
import HaloCapture
import L2CAP

/// Follows the links of all adapters in a capture, and recombines their ATT PDUs. Also reads captures that begin in
/// mid-connection: data of an unknown link begins one. Bounded: the link that was not used for longest is forgotten.
final class CapturedLinks {
  /// A link; its identifiers count from 0 in the order in which the links appear.
  struct LinkID: Hashable {
    var rawValue: Int
  }

  /// Called when a link appears, with its event; nil if the capture begins in mid-connection.
  var onOpened: (LinkID, LEConnectionComplete?, CaptureRecordInfo) -> Void = { _, _, _ in }
  /// Called for each ATT PDU, with whether the host sent it. The span is valid only during the call.
  var onPDU: (LinkID, Bool, RawSpan, CaptureRecordInfo) -> Void = { _, _, _, _ in }
  /// Called when a link ends; the reason is nil if its end is not in the capture.
  var onClosed: (LinkID, HCIErrorCode?, CaptureRecordInfo) -> Void = { _, _, _ in }
  /// Called for each advertising report.
  var onReport: (AdvertisingReport, CaptureRecordInfo) -> Void = { _, _ in }

  private struct Place: Hashable {
    var adapter: UInt16?
    var handle: ConnectionHandle
  }

  private final class Link {
    let id: LinkID
    /// The largest frame that L2CAP has.
    let sent = Recombiner(maximumPayload: 65535, reserved: 64)
    let received = Recombiner(maximumPayload: 65535, reserved: 64)
    var lastUsed = 0

    init(_ id: LinkID) { self.id = id }
  }

  private static let capacity = 64

  private var links: [Place: Link] = [:]
  private var count = 0

  /// Processes an HCI packet with its type byte.
  func take(_ bytes: RawSpan, _ info: CaptureRecordInfo) {
    guard case .hci(let direction) = info.content,
      let type = bytes.byte(at: 0).flatMap({ HCIPacketType(rawValue: $0) })
    else { return }
    let packet = bytes.extracting(1..<bytes.byteCount)
    switch type {
    case .event: receiveEvent(packet, info)
    case .acl: if let acl = try? ACLPacket(packet) { receiveData(acl, direction, info) }
    default: break
    }
  }

  private func receiveEvent(_ packet: RawSpan, _ info: CaptureRecordInfo) {
    guard let code = packet.byte(at: 0).map({ HCIEventCode(rawValue: $0) }),
      code == .leMeta || code == .disconnectionComplete || code == .commandComplete
    else { return }
    var reader = ByteReader(packet)
    switch try? HCIEvent(parsing: &reader) {
    case .leConnectionComplete(let event)? where event.status == .success:
      let place = Place(adapter: info.adapter, handle: event.handle)
      close(place, nil, info)
      open(place, event, info)
    case .leAdvertisingReports(let reports)?:
      for report in reports.reports { onReport(report, info) }
    case .disconnectionComplete(let event)? where event.status == .success:
      close(Place(adapter: info.adapter, handle: event.handle), event.reason, info)
    case .commandComplete(let event)? where event.opcode == Reset.opcode:
      for place in links.keys where place.adapter == info.adapter { close(place, nil, info) }
    default: break
    }
  }

  @discardableResult
  private func open(_ place: Place, _ event: LEConnectionComplete?, _ info: CaptureRecordInfo) -> Link {
    if links.count >= Self.capacity,
      let oldest = links.min(by: { $0.value.lastUsed < $1.value.lastUsed })
    {
      close(oldest.key, nil, info)
    }
    let link = Link(LinkID(rawValue: count))
    count += 1
    link.lastUsed = info.number
    links[place] = link
    onOpened(link.id, event, info)
    return link
  }

  private func close(_ place: Place, _ reason: HCIErrorCode?, _ info: CaptureRecordInfo) {
    guard let link = links.removeValue(forKey: place) else { return }
    onClosed(link.id, reason, info)
  }

  private func receiveData(
    _ acl: borrowing ACLPacket, _ known: CaptureDirection?, _ info: CaptureRecordInfo
  ) {
    let place = Place(adapter: info.adapter, handle: acl.header.handle)
    guard links[place] != nil || place.handle != .controllerDebug else { return }
    let link = links[place] ?? open(place, nil, info)
    link.lastUsed = info.number
    let boundary = acl.header.boundary
    let isSent: Bool
    if let known {
      isSent = known == .hostToController
    } else if boundary == .continuing {
      isSent = link.sent.isCollecting
    } else {
      // A host starts frames as not flushable, a controller as flushable (Vol 4, Part E, 5.4.2).
      isSent = boundary == .firstNonFlushable
    }
    (isSent ? link.sent : link.received).receive(acl.data, isStart: boundary != .continuing) {
      channel, payload in
      if channel == .attribute { onPDU(link.id, isSent, payload, info) }
    }
  }
}
