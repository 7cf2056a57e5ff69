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
  /// It may be a ring: it has the name of a brand with a suffix, the company identifier 0x1234, which is not assigned, or the
  /// service 3802. If none was named, it is used if it is the only one, and no other ring is near.
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
    let name = name?.lowercased()
    if let name, glasses.contains(where: name.hasPrefix) { return nil }
    if services.contains(RingGATT.commandService) { return .service }
    let named = name.flatMap { name in
      containsModel(name) ? .name : names.lazy.compactMap { $0.identity(of: name) }.max()
    }
    // The maker's glasses have this service, too: alone it proves nothing.
    if let named, named > .possible, services.contains(RingGATT.bulkService) { return .service }
    let isPossible = companies.contains(company) || services.contains(RingGATT.unknownService)
    return named ?? (isPossible ? .possible : nil)
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

  /// The company identifier that rings advertise. It is not assigned.
  package static let company = CompanyIdentifier(rawValue: 0x1234)

  /// Whether there is an r, 0 or 1, a digit, perhaps a letter (`R11C_`, `R10M_`), and an underscore, and no letter before.
  ///
  /// - Parameter name: in lower case
  private static func containsModel(_ name: String) -> Bool {
    var rest = name.utf8[...]
    var previous: UInt8 = 0
    while let first = rest.popFirst() {
      defer { previous = first }
      var tail = rest
      guard first == UInt8(ascii: "r"), !isLetter(previous), let tens = tail.popFirst(),
        let ones = tail.popFirst(), var next = tail.popFirst(), (48...49).contains(tens),
        (48...57).contains(ones)
      else { continue }
      if isLetter(next), let afterLetter = tail.popFirst() { next = afterLetter }
      if next == UInt8(ascii: "_") { return true }
    }
    return false
  }

  private static func isLetter(_ character: UInt8) -> Bool { (97...122).contains(character) }

  /// A name of rings, or a part of one, in lower case.
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

  /// Names apart from those with a model: of the vendor's app, and of clients. Each client writes them in another case.
  private static let names: [KnownName] =
    [.anywhere("colmi"), .start("tr-r")]
    + [
      "SMART_RING", "VK-5098", "MERLIN", "Hello Ring", "RING1", "boAtring", "SE", "EVOLVEO", "GL-SR2",
      "Blaupunkt", "KSIX RING", "iGET", "Kogan", "FITNESS", "Fyri", "OneRing SR01", "BOK", "9FSM", "STF",
      "Newgen", "SSR", "SEEKEN", "MXSR", "H59", "Y25",
    ].map { KnownName.brand($0.lowercased()) }

  /// How the names of the maker's glasses begin. These have the bulk service, and other meanings for its ids.
  private static let glasses = ["m02c_", "cy01", "aimb-g1"]
}
