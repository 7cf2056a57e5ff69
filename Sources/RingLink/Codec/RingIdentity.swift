import HCI
import HaloBluetoothCore

/// The revision strings of a ring, and the properties that follow from them (ring reference, 0.2). Rings sold under one
/// name have had four different chips inside: only these strings identify them.
package struct RingFirmware: Hashable, Sendable {
  /// Characteristic 2A26, such as `RT02R_3.11.00_250611`; nil if the ring has none.
  package var firmwareRevision: String?
  /// Characteristic 2A27, such as `RT02R_V3.1`; nil if the ring has none.
  package var hardwareRevision: String?

  package init(firmwareRevision: String?, hardwareRevision: String?) {
    self.firmwareRevision = firmwareRevision
    self.hardwareRevision = hardwareRevision
  }

  /// The firmware decides; the hardware is used only where the firmware is ambiguous.
  package var family: RingFamily {
    let named = firmwareRevision.map(RingFamily.init(revision:)) ?? .unknown
    return named == .unknown ? hardwareRevision.map(RingFamily.init(revision:)) ?? .unknown : named
  }

  /// How this ring encodes acceleration; nil where only the stream shows it, see ``AccelerometerEncodingDetector``.
  package var accelerometerEncoding: AccelerometerEncoding? { family.accelerometerEncoding }
}

/// Rings that behave alike, named after the start of their firmware's name.
package enum RingFamily: Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// The old ones: BlueX RF03, `R02_3.00...`.
  case rf03
  /// `RY02...`, `RY09...`: sources disagree on the chip.
  case ry
  /// Realtek RTL8762E: `RT02R...`, `RT02CR...`, `RT03CR...`, `RT12...`.
  case rt
  /// Realtek RTL8762C, the R11 and R12: `RT11CR...`.
  case rt11cr
  case unknown

  /// Reads a firmware or hardware revision.
  init(revision: String) {
    let text = Array(revision.utf8)
    func isDigit(_ index: Int) -> Bool { text.indices.contains(index) && (48...57).contains(text[index]) }
    if revision.hasPrefix("RT11CR") {
      self = .rt11cr
    } else if revision.hasPrefix("RT"), isDigit(2) {
      self = .rt
    } else if revision.hasPrefix("RY"), isDigit(2) {
      self = .ry
    } else if revision.hasPrefix("R"), isDigit(1), isDigit(2),
      revision.dropFirst(3).hasPrefix("_3.00") || revision.dropFirst(3).hasPrefix("_V3.0")
    {
      self = .rf03
    } else {
      self = .unknown
    }
  }

  package var accelerometerEncoding: AccelerometerEncoding? {
    switch self {
    case .rf03: .twelveBit
    case .rt, .rt11cr: .sixteenBit
    case .ry, .unknown: nil
    }
  }

  /// Whether rings of this family have the counted stream (ring reference, 5.7); nil where only the ring knows.
  package var hasCountedStream: Bool? { self == .rt11cr ? false : nil }

  package var description: String {
    switch self {
    case .rf03: "RF03"
    case .ry: "RY"
    case .rt: "RT"
    case .rt11cr: "RT11CR"
    case .unknown: "unknown family"
    }
  }
}

/// How likely an advertisement is from a ring (ring reference, 1.1). Only the attribute table proves it: some rings do
/// not advertise any service, and some look-alikes have a ring's name.
package enum RingIdentity: Int, Hashable, Sendable, Comparable {
  /// It may be a ring, and is connected to only if it is named. It has the name of a brand with a suffix, or the company
  /// identifier 0x1234, which is not assigned.
  case possible
  /// A name that rings use, and others too: `SMART_RING`, or that of another brand.
  case ambiguousName
  /// A name in the form that this manufacturer uses: `R02_341C`, `COLMI R07_1234`.
  case name
  /// It advertises one of the ring's services.
  case service

  /// Classifies an advertisement; nil if it does not look like a ring.
  package static func matches(
    name: String?, services: some Sequence<BluetoothUUID>, companies: some Sequence<CompanyIdentifier> = []
  ) -> RingIdentity? {
    if services.contains(where: { $0 == RingGATT.commandService || $0 == RingGATT.bulkService }) {
      return .service
    }
    let named = name.flatMap { name in
      containsModel(name) ? .name : names.lazy.compactMap { $0.identity(of: name) }.max()
    }
    return named ?? (companies.contains(CompanyIdentifier(rawValue: 0x1234)) ? .possible : nil)
  }

  /// Classifies a device by all that it advertises.
  package static func matches(_ device: Advertisement) -> RingIdentity? {
    matches(
      name: device.localName, services: device.serviceUUIDs, companies: device.manufacturerData.map(\.company)
    )
  }

  package static func < (left: RingIdentity, right: RingIdentity) -> Bool {
    left.rawValue < right.rawValue
  }

  /// Whether there is an R, 0 or 1, a digit, perhaps a letter (`R11C_`, `R10M_`), and an underscore.
  private static func containsModel(_ name: String) -> Bool {
    var rest = name.utf8[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "R")) {
      rest = rest[rest.index(after: start)...]
      var tail = rest
      guard let tens = tail.popFirst(), let ones = tail.popFirst(), var next = tail.popFirst(),
        (48...49).contains(tens), (48...57).contains(ones)
      else { continue }
      if (65...90).contains(next), let afterLetter = tail.popFirst() { next = afterLetter }
      if next == UInt8(ascii: "_") { return true }
    }
    return false
  }

  /// A name of rings, or a part of one.
  private enum KnownName {
    case anywhere(String)
    case start(String)
    /// The name of a brand: others use it as well. With a suffix, it is that of more devices still.
    case brand(String)

    func identity(of name: String) -> RingIdentity? {
      switch self {
      case .anywhere(let part): name.contains(part) ? .name : nil
      case .start(let start): name.hasPrefix(start) ? .name : nil
      case .brand(let brand) where name == brand: .ambiguousName
      case .brand(let brand):
        name.hasPrefix(brand) && name.dropFirst(brand.count).first.map("_- ".contains) == true
          ? .possible : nil
      }
    }
  }

  /// Names apart from those with a model: of the vendor's app, and of clients.
  private static let names: [KnownName] =
    [.anywhere("COLMI"), .start("TR-R")]
    + [
      "SMART_RING", "VK-5098", "MERLIN", "Hello Ring", "RING1", "boAtring", "SE", "EVOLVEO", "GL-SR2",
      "Blaupunkt", "KSIX RING", "iGET", "Kogan", "FITNESS", "Fyri", "OneRing SR01", "BOK", "9FSM", "STF",
      "Newgen", "SSR", "SEEKEN", "MXSR", "H59", "Y25",
    ].map(KnownName.brand)
}
