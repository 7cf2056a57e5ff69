/// The PHYs and the packet length to request as soon as a link is established. Features that one of the link layers lacks are
/// not requested.
package struct LinkPreferences: Hashable, Sendable {
  /// The PHYs to use in both directions; nil to request none. A link begins on LE 1M.
  package var phys: LEPHYs?
  /// The maximum payload of the packets to send, 27 to 251 bytes; nil to request none. A link begins with 27.
  package var dataLength: Int?

  package init(phys: LEPHYs? = nil, dataLength: Int? = nil) {
    self.phys = phys
    self.dataLength = dataLength
  }

  /// LE 2M, with LE 1M as the alternative when the signal is weak, and packets of 251 bytes.
  package static let standard = LinkPreferences(phys: [.le1M, .le2M], dataLength: 251)
}

extension LEPHYs {
  /// The PHYs that a link layer with these features has. Each has LE 1M.
  init(_ features: LEFeatures) {
    self.init(
      le1M: true, le2M: features.contains(.phy2M), leCoded: features.contains(.phyCoded))
  }

  /// The features that these PHYs need.
  var features: LEFeatures {
    var features: LEFeatures = []
    if contains(.le2M) { features.insert(.phy2M) }
    if contains(.leCoded) { features.insert(.phyCoded) }
    return features
  }
}

extension LinkPHYs: CustomStringConvertible {
  /// The PHYs of a new link.
  package static let le1M = LinkPHYs {
    $0.transmit = .le1M
    $0.receive = .le1M
  }

  package var description: String {
    transmit == receive ? "\(transmit)" : "\(transmit) to send, \(receive) to receive"
  }
}

extension DataLengths: CustomStringConvertible {
  /// The lengths of a new link (Vol 6, Part B, 4.5.10).
  package static let shortest = DataLengths {
    $0.transmit = DataLength(octets: 27, time: 328)
    $0.receive = $0.transmit
  }

  package var description: String {
    transmit.octets == receive.octets
      ? "\(transmit.octets) bytes" : "\(transmit.octets) bytes to send, \(receive.octets) bytes to receive"
  }
}

extension DataLength {
  /// The length of packets with a payload of this many bytes, and the time that the slowest of `phys` needs for them
  /// (Vol 6, Part B, 4.5.10): the coded one takes 64 us for a byte.
  init(octets: Int, on phys: LEPHYs) {
    let octets = min(max(octets, 27), 251)
    let time = phys.contains(.leCoded) ? octets * 64 + 976 : (octets + 14) * 8
    self.init(octets: UInt16(octets), time: UInt16(time))
  }
}
