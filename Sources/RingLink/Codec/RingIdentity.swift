import BluetoothCore

/// How sure an advertisement is of a ring (ring reference, 1.1). Only the attribute table proves it: some
/// rings advertise no service at all, and some look-alikes have a ring's name.
public enum RingIdentity: Int, Hashable, Sendable, Comparable {
  /// A name that rings use, and others too: `SMART_RING`, or that of another brand.
  case ambiguousName
  /// A name as the rings of this maker have it: `R02_341C`, `COLMI R07_1234`.
  case name
  /// It advertises one of the ring's own services.
  case service

  /// Judges an advertisement; nil for what is no ring as far as one can see.
  public static func matches(name: String?, services: some Sequence<BluetoothUUID>) -> RingIdentity? {
    if services.contains(where: { $0 == RingGATT.commandService || $0 == RingGATT.bulkService }) {
      return .service
    }
    guard let name else { return nil }
    if name.contains("COLMI") || name.hasPrefix("TR-R") || containsModel(name) { return .name }
    return otherNames.contains(name) ? .ambiguousName : nil
  }

  public static func < (left: RingIdentity, right: RingIdentity) -> Bool {
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

  private static let otherNames: Set<String> = [
    "SMART_RING", "VK-5098", "MERLIN", "Hello Ring", "RING1", "boAtring", "SE", "EVOLVEO", "GL-SR2",
    "Blaupunkt", "KSIX RING", "iGET", "Kogan", "FITNESS", "Fyri", "OneRing SR01", "BOK", "9FSM", "STF",
    "Newgen", "SSR", "SEEKEN", "MXSR",
  ]
}
