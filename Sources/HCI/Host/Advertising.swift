import HaloBluetoothCore

/// The data, the kind and the interval of an advertisement (Core Specification Vol 6, Part B, 4.4.2).
package struct Advertising: Hashable, Sendable {
  /// Who may answer an advertisement.
  package enum Kind: Hashable, Sendable {
    /// Any central may connect.
    case connectable
    /// Accepts no connection; active scanners get more data.
    case scannable
    /// Accepts no connection: a beacon.
    case nonConnectable
    /// One central may connect, which finds no data. With a high duty, it is called every 3.75 ms, for 1.28 seconds; and as
    /// often as others from then on.
    case directed(BluetoothAddress, isHighDuty: Bool)
  }

  /// The PHYs of the extended PDUs, which scanners since Bluetooth 5 may receive: more data, and on LE Coded a longer range.
  package enum ExtendedPHYs: Hashable, Sendable {
    case le1M
    /// The advertisement points to its data, which are sent on LE 2M.
    case le2M
    case leCoded
  }

  package let kind: Kind
  package let data: [UInt8]
  /// The data that an active scanner gets in addition.
  package let scanResponse: [UInt8]
  /// Nil for the legacy PDUs, which every scanner receives.
  package let phys: ExtendedPHYs?
  /// The shortest time between two advertising events, before the random delay that the controller adds.
  package private(set) var intervalMin = AdvertisingInterval(.milliseconds(100))
  package private(set) var intervalMax = AdvertisingInterval(.milliseconds(150))

  /// The most data of an advertisement with extended PDUs. Controllers may have room for less.
  package static let extendedCapacity = 1650

  /// - Parameters:
  ///   - data: for all scanners
  ///   - scanResponse: for active scanners
  ///   - kind: who may answer
  ///   - phys: nil for legacy PDUs, with 31 bytes each
  /// - Throws: if they do not fit, or go together with none of the kinds: nothing is cut, and nothing is left out
  package init(
    _ data: AdvertisingData, scanResponse: AdvertisingData = AdvertisingData(), kind: Kind = .connectable,
    phys: ExtendedPHYs? = nil
  ) throws(AdvertisingFault) {
    self.kind = kind
    self.data = data.bytes
    self.scanResponse = scanResponse.bytes
    self.phys = phys
    try AdvertisingFault.check(.advertisement, data)
    try AdvertisingFault.check(.scanResponse, scanResponse)
    let capacity = phys == nil ? LegacyAdvertisingData.capacity : Self.extendedCapacity
    for (part, bytes) in [
      (AdvertisingFault.Part.advertisement, self.data), (.scanResponse, self.scanResponse),
    ] {
      guard bytes.count <= (hasRoom(for: part) ? capacity : 0) else {
        throw hasRoom(for: part) ? .tooLong(part, bytes.count, capacity) : .notSent(part)
      }
    }
  }

  /// Whether this kind of an advertisement has such data (Vol 4, Part E, 7.8.54 and 7.8.55).
  private func hasRoom(for part: AdvertisingFault.Part) -> Bool {
    let isLegacy = phys == nil
    return switch (kind, part) {
    case (.directed, _): false
    case (.connectable, .advertisement), (.nonConnectable, .advertisement): true
    case (.scannable, .advertisement): isLegacy
    case (.connectable, .scanResponse): isLegacy
    case (.scannable, .scanResponse): true
    case (.nonConnectable, .scanResponse): false
    }
  }

  /// The same, as often as `interval` says.
  ///
  /// - Parameter interval: 20 ms to 10.24 s, rounded up to steps of 0.625 ms; the controller gets half as much more to choose
  ///   from
  package func every(_ interval: Duration) throws(AdvertisingFault) -> Advertising {
    guard (.milliseconds(20) ... .milliseconds(10_240)).contains(interval) else { throw .interval(interval) }
    var other = self
    other.intervalMin = AdvertisingInterval(interval)
    other.intervalMax = AdvertisingInterval(min(interval * 3 / 2, .milliseconds(10_240)))
    return other
  }

  package var isConnectable: Bool {
    switch kind {
    case .connectable, .directed: true
    case .scannable, .nonConnectable: false
    }
  }

  /// As it goes on when a call to one central was not answered.
  var lowDutyCycle: Advertising {
    guard case .directed(let central, isHighDuty: true) = kind else { return self }
    return Advertising(copying: self, as: .directed(central, isHighDuty: false))
  }

  private init(copying other: Advertising, as kind: Kind) {
    self.kind = kind
    (data, scanResponse, phys) = (other.data, other.scanResponse, other.phys)
    (intervalMin, intervalMax) = (other.intervalMin, other.intervalMax)
  }
}

/// Why something cannot be advertised.
package enum AdvertisingFault: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Part: Hashable, Sendable {
    case advertisement, scanResponse
  }

  /// More bytes than there is room for.
  case tooLong(Part, Int, Int)
  /// This kind of advertisement has none.
  case notSent(Part)
  /// Two structures of a type of which there may be one.
  case repeated(Part, ADType)
  /// Flags are sent in the advertisement only (Core Specification Supplement, Part A, 1.3).
  case flagsInScanResponse
  /// The bytes are no list of structures, each of a length, a type, and its data.
  case malformed(Part)
  case interval(Duration)

  /// The types that may occur more than once: Service Data and Manufacturer Specific Data.
  private static let repeatable: Set<ADType> = [
    .serviceData16, .serviceData32, .serviceData128, .manufacturerData,
  ]

  fileprivate static func check(_ part: Part, _ data: AdvertisingData) throws(AdvertisingFault) {
    guard !data.isDamaged else { throw .malformed(part) }
    var seen: Set<ADType> = []
    for type in data.structures.compactMap(\.type) {
      let isNew = seen.insert(type).inserted
      guard isNew || repeatable.contains(type) else { throw .repeated(part, type) }
    }
    if part == .scanResponse, seen.contains(.flags) { throw .flagsInScanResponse }
  }

  package var description: String {
    switch self {
    case .tooLong(let part, let count, let capacity):
      "\(part) has \(count) bytes, and room for \(capacity); give it less"
    case .notSent(let part): "\(part) is not sent with this kind of advertising; leave it out"
    case .repeated(let part, let type): "\(part) has more than one \(type); put it all into one"
    case .flagsInScanResponse: "the scan response has Flags, which belong into the advertisement"
    case .malformed(let part):
      "\(part) is no list of structures: each begins with its length, then has its type, then its data"
    case .interval(let interval):
      "\(interval.inSeconds) s is no advertising interval; it has 0.02 to 10.24 s"
    }
  }
}

extension AdvertisingFault.Part: CustomStringConvertible {
  package var description: String {
    switch self {
    case .advertisement: "the advertisement"
    case .scanResponse: "the scan response"
    }
  }
}

/// An advertisement beside others of the same adapter. Who advertises makes one, and keeps it.
package final class AdvertisingSet {
  /// Called with nil each time the adapter has begun to advertise it; and with the reason when it refuses to, which is tried
  /// again.
  package var onResult: ((StackError?) -> Void)?

  package init() {}
}
