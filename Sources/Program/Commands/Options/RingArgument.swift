import Glibc
import HaloBluetoothCore
import HaloCommandLine
import RingLink

/// The rings that command lines name.
extension Invocation {
  /// The ring of the first argument, else that of the environment (`HALO_RING`), else that of the configuration file.
  ///
  /// - Parameter isReal: whether those can be meant: not by a virtual adapter or a replay
  /// - Returns: nil if none is named
  func ring(isReal: Bool = true) throws(Failure) -> RingSelector? {
    if let text = positionals.first { return try ring(text) }
    guard isReal else { return nil }
    let environment = getenv("HALO_RING").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    guard let text = environment ?? configuration?.ring(for: command) else { return nil }
    do throws(Failure) {
      return try ring(text)
    } catch {
      throw .usage(
        "\(environment == nil ? configuration?.path.printable ?? "" : "HALO_RING"): \(error.message)")
    }
  }

  /// The ring that an argument names.
  ///
  /// - Throws: at once, if it can't be the name of a ring: otherwise a mistake would be searched for
  func ring(_ text: String) throws(Failure) -> RingSelector {
    let text = configuration?.rings[text] ?? text
    guard !text.isEmpty else { throw .usage("the name of the ring is empty; leave it out for any ring") }
    let selector = RingSelector(text)
    guard case .name = selector else { return selector }
    if text.contains(":"), text.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "/" }) {
      throw .usage(
        "\"\(text.printable)\" is not an address: it has six pairs of digits, such as C0:11:22:33:44:55")
    }
    if let option = optionNames.first(where: { $0 == "--" + text.lowercased() }) {
      throw .usage("\"\(text.printable)\" would be the name of a ring; did you mean \(option)?")
    }
    return selector
  }
}

extension RingSelector {
  /// The ring in messages.
  var title: String {
    switch self {
    case .anyRing: "a ring"
    case .name(let name): name.printable
    case .address(let value, let kind): BluetoothAddress(value, kind ?? .public).description
    }
  }
}
