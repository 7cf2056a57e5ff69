import HaloSystem

/// Linux capabilities, capabilities(7), one bit for each. Only those that matter to this program have names.
package struct Capabilities: OptionSet, Hashable, Sendable, CustomStringConvertible {
  package var rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// To change the group and the user.
  static let setGID = Capabilities(rawValue: 1 << 6)
  static let setUID = Capabilities(rawValue: 1 << 7)
  /// To clear the bounding set.
  static let setPCap = Capabilities(rawValue: 1 << 8)
  /// To switch adapters on and off, and to use one exclusively.
  package static let netAdmin = Capabilities(rawValue: 1 << 12)
  /// To send commands such as those for scanning over a raw socket. The kernel checks it for each command.
  package static let netRaw = Capabilities(rawValue: 1 << 13)

  /// The capabilities that the program can use.
  package static let useful: Capabilities = [.netRaw, .netAdmin]

  private static let names: [(Capabilities, String)] = [
    (.netRaw, "cap_net_raw"), (.netAdmin, "cap_net_admin"), (.setUID, "cap_setuid"), (.setGID, "cap_setgid"),
    (.setPCap, "cap_setpcap"),
  ]

  /// As setcap(8) spells them: `cap_net_raw,cap_net_admin`; others by number.
  package var description: String {
    var names = Self.names.filter { contains($0.0) }.map(\.1)
    let named = Self.names.reduce(into: Capabilities()) { $0.formUnion($1.0) }
    let others = subtracting(named).rawValue
    names += (0..<64).filter { others >> $0 & 1 == 1 }.map(String.init)
    return names.joined(separator: ",")
  }

  /// The capabilities that a program's file makes effective for its processes; nil if unknown. A file that only permits
  /// them counts as granting none.
  package static func granted(byFile path: String) -> Capabilities? {
    var permitted: UInt64 = 0
    var isEffective: Int32 = 0
    guard Linux.fileCapabilities(path, &permitted, &isEffective) == 0 else { return nil }
    return isEffective == 0 ? [] : Capabilities(rawValue: permitted)
  }
}

/// The capabilities of one thread.
package struct ThreadCapabilities: Hashable, Sendable {
  /// The capabilities that the thread may use.
  package var permitted: Capabilities = []
  /// The capabilities in effect, which the kernel checks.
  package var effective: Capabilities = []

  /// The capabilities of the calling thread.
  package static func current() throws(SystemError) -> ThreadCapabilities {
    var permitted: UInt64 = 0
    var effective: UInt64 = 0
    try retryingInterrupts("capget") { Linux.capabilities(&permitted, &effective) }
    return ThreadCapabilities(
      permitted: Capabilities(rawValue: permitted), effective: Capabilities(rawValue: effective))
  }

  /// Sets these for the calling thread. Programs that it executes inherit none.
  package func apply() throws(SystemError) {
    try retryingInterrupts("capset") { Linux.setCapabilities(permitted.rawValue, effective.rawValue) }
  }

  /// Reads them from the text of `/proc/PID/status`; nil if they are not in it.
  package init?(procStatus text: String) {
    // As bytes: to find characters takes a millisecond at the start of each command.
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
    func field(_ name: String) -> Capabilities? {
      let line = lines.first { $0.starts(with: "\(name):".utf8) }
      let digits = line?.dropFirst(name.utf8.count + 1).drop {
        $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ")
      }
      return digits.flatMap { UInt64(Substring($0), radix: 16) }.map { Capabilities(rawValue: $0) }
    }
    guard let permitted = field("CapPrm"), let effective = field("CapEff") else { return nil }
    self.init(permitted: permitted, effective: effective)
  }

  package init(permitted: Capabilities = [], effective: Capabilities = []) {
    self.permitted = permitted
    self.effective = effective
  }
}
