import CPrivileges
import EventLoop

/// Shares of root's power, a bit for each (capabilities(7)). Those are named that this program has to do with.
struct Capabilities: OptionSet, Hashable, Sendable {
  var rawValue: UInt64

  /// To become another group, and another user.
  static let setGID = Capabilities(rawValue: 1 << 6)
  static let setUID = Capabilities(rawValue: 1 << 7)
  /// To empty the bounding set.
  static let setPCap = Capabilities(rawValue: 1 << 8)
  /// To switch adapters on and off, and to take one for oneself.
  static let netAdmin = Capabilities(rawValue: 1 << 12)
  /// To send commands such as those for scanning over a raw socket. The kernel checks it at each.
  static let netRaw = Capabilities(rawValue: 1 << 13)

  /// What the program can use at all.
  static let useful: Capabilities = [.netRaw, .netAdmin]
}

extension Capabilities: CustomStringConvertible {
  private static let names: [(Capabilities, String)] = [
    (.netRaw, "cap_net_raw"), (.netAdmin, "cap_net_admin"), (.setUID, "cap_setuid"), (.setGID, "cap_setgid"),
    (.setPCap, "cap_setpcap"),
  ]

  /// As setcap(8) spells them: `cap_net_raw,cap_net_admin`; others by number.
  var description: String {
    var words = Self.names.filter { contains($0.0) }.map(\.1)
    let named = Self.names.reduce(into: Capabilities()) { $0.formUnion($1.0) }
    let others = subtracting(named).rawValue
    words += (0..<64).filter { others >> $0 & 1 == 1 }.map(String.init)
    return words.joined(separator: ",")
  }
}

/// The capabilities of one thread.
struct ThreadCapabilities: Hashable, Sendable {
  /// What the thread may use.
  var permitted: Capabilities = []
  /// What it does use: what the kernel looks at.
  var effective: Capabilities = []

  /// Those of the calling thread.
  static func current() throws(SystemError) -> ThreadCapabilities {
    var sets = halo_capabilities()
    try retryingInterrupts("capget") { halo_capabilities_get(&sets) }
    return ThreadCapabilities(
      permitted: Capabilities(rawValue: sets.permitted), effective: Capabilities(rawValue: sets.effective))
  }

  /// Makes these the calling thread's, with nothing for programs that it may become.
  func apply() throws(SystemError) {
    var sets = halo_capabilities(
      permitted: permitted.rawValue, effective: effective.rawValue, inheritable: 0)
    try retryingInterrupts("capset") { halo_capabilities_set(&sets) }
  }

  /// Reads them from the text of `/proc/PID/status`; nil if they are not in it.
  init?(procStatus text: String) {
    func field(_ name: String) -> Capabilities? {
      let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
      let digits = line?.dropFirst(name.count + 1).drop { $0 == "\t" || $0 == " " }
      return digits.flatMap { UInt64($0, radix: 16) }.map { Capabilities(rawValue: $0) }
    }
    guard let permitted = field("CapPrm"), let effective = field("CapEff") else { return nil }
    self.init(permitted: permitted, effective: effective)
  }

  init(permitted: Capabilities = [], effective: Capabilities = []) {
    self.permitted = permitted
    self.effective = effective
  }
}

extension Capabilities {
  /// What the file grants to whoever runs it; nil if that can't be found out. A file that only permits, and
  /// leaves it to the program to make them effective, grants nothing here.
  static func granted(byFile path: String) -> Capabilities? {
    var permitted: UInt64 = 0
    var isEffective: Int32 = 0
    guard halo_file_capabilities(path, &permitted, &isEffective) == 0 else { return nil }
    return isEffective == 0 ? [] : Capabilities(rawValue: permitted)
  }
}
