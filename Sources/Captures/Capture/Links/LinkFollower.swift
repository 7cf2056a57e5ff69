import HCI
import HaloBluetoothCore
import L2CAP

/// The data that the user of a follower keeps of a link.
package protocol CapturedLink: AnyObject {
  /// Nil if the capture begins in the middle of the link.
  var peer: BluetoothAddress? { get }
  /// The number of its last packet, which the follower sets.
  var lastUsed: Int { get set }
}

/// Puts the data of a link together to L2CAP frames, in both directions.
package struct LinkFrames {
  /// The largest frame that L2CAP has.
  package static let maximumPayload = 65535

  /// The frames of the host, or on the air of the central.
  package let sent = Recombiner(maximumPayload: maximumPayload, reserved: 64)
  package let received = Recombiner(maximumPayload: maximumPayload, reserved: 64)

  package init() {}

  /// Whether the host has sent a fragment. Where the capture does not record it: a host starts frames as not flushable, a
  /// controller as flushable (Core Specification Vol 4, Part E, 5.4.2); a continuation belongs to the incomplete frame.
  package func isSent(_ boundary: ACLHeader.Boundary, _ known: CaptureDirection?) -> Bool {
    if let known { return known == .hostToController }
    return boundary == .continuing ? sent.isCollecting : boundary == .firstNonFlushable
  }
}

/// Follows the links of the adapters of a capture: which there are, to whom, until when. A capture may begin in the
/// middle of a link: data of an unknown link begin one. Bounded: the link that was not used for longest is forgotten.
package struct LinkFollower<Link: CapturedLink> {
  package static var capacity: Int { 64 }

  @usableFromInline struct Place: Hashable {
    @usableFromInline var adapter: UInt16?
    @usableFromInline var handle: ConnectionHandle

    @inlinable init(adapter: UInt16?, handle: ConnectionHandle) {
      self.adapter = adapter
      self.handle = handle
    }

    @inlinable static func == (left: Self, right: Self) -> Bool {
      left.handle == right.handle && left.adapter == right.adapter
    }
  }

  /// A link that ended, and why; nil if its end is not in the capture.
  package typealias Ended = (link: Link, reason: HCIErrorCode?)

  @usableFromInline var links: [Place: Link] = [:]
  /// The link of the last data: most packets are on the same.
  @usableFromInline var last: (place: Place, link: Link)?

  package init() {}

  /// The open links, in no order.
  package var open: some Collection<Link> { links.values }

  // Inlinable, so that callers do not pay for a generic type with each packet.

  @inlinable
  package subscript(handle: ConnectionHandle, adapter: UInt16?) -> Link? {
    let place = Place(adapter: adapter, handle: handle)
    if let last, last.place == place { return last.link }
    return links[place]
  }

  /// Follows a change.
  ///
  /// - Parameters:
  ///   - change: the change that a command or an event shows
  ///   - info: the packet with it
  ///   - begin: makes the state of a link
  /// - Returns: the links that ended
  package mutating func take(
    _ change: LinkChange, _ info: CaptureRecordInfo, begin: (NewLink) -> Link
  ) -> [Ended] {
    switch change {
    case .began(let link): return add(link, info, begin)
    case .streams(let streams):
      return streams.flatMap { stream, link -> [Ended] in
        guard let peer = self[link, info.adapter]?.peer else { return [] }
        return add(NewLink(stream, peer), info, begin)
      }
    case .ended(let handle, let reason): return remove(Place(adapter: info.adapter, handle: handle), reason)
    case .reset: return links.keys.filter { $0.adapter == info.adapter }.flatMap { remove($0, nil) }
    }
  }

  /// The link of a packet of data; nil if it is not known.
  @inlinable
  package mutating func use(_ handle: ConnectionHandle, _ info: CaptureRecordInfo) -> Link? {
    let place = Place(adapter: info.adapter, handle: handle)
    if let last, last.place == place {
      last.link.lastUsed = info.number
      return last.link
    }
    guard let link = links[place] else { return nil }
    link.lastUsed = info.number
    last = (place, link)
    return link
  }

  /// The link of a packet of data that is not known: it begins now.
  ///
  /// - Returns: nil if the handle is of no link; with the link that was forgotten for the new one
  package mutating func discover(
    _ handle: ConnectionHandle, _ info: CaptureRecordInfo, begin: (NewLink) -> Link
  ) -> (link: Link, forgotten: [Ended])? {
    guard handle != .controllerDebug else { return nil }
    let forgotten = add(NewLink(handle, nil), info, begin)
    return use(handle, info).map { ($0, forgotten) }
  }

  private mutating func add(
    _ new: NewLink, _ info: CaptureRecordInfo, _ begin: (NewLink) -> Link
  ) -> [Ended] {
    let place = Place(adapter: info.adapter, handle: new.handle)
    var ended = remove(place, nil)
    if links.count >= Self.capacity, let oldest = links.min(by: { $0.value.lastUsed < $1.value.lastUsed }) {
      ended += remove(oldest.key, nil)
    }
    let link = begin(new)
    link.lastUsed = info.number
    links[place] = link
    return ended
  }

  private mutating func remove(_ place: Place, _ reason: HCIErrorCode?) -> [Ended] {
    last = nil
    return links.removeValue(forKey: place).map { [($0, reason)] } ?? []
  }
}
