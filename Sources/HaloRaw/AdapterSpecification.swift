import HCI
import HaloBluetoothCore
import HaloDevices
import HaloLinuxBluetooth
import HaloSimulation

/// Which adapter to use, as a user writes it: `hci0`, `user:hci0`, `virtual[:OPTIONS]`, `virtual:air=NAME`, `tcp:HOST:PORT`,
/// `unix:PATH`, `serial:PATH[@BAUD]` or `replay:FILE`.
package enum AdapterSpecification: Sendable {
  /// An adapter that the kernel drives; nil for the first one that is up.
  case kernel(AdapterIndex?)
  /// An adapter of this machine, for this program alone.
  case user(AdapterIndex)
  /// The built-in ring. With `isFast`, time is virtual: a minute takes milliseconds.
  case virtual(VirtualRingOptions, isFast: Bool)
  /// A radio on a simulated medium of this process: the others on the medium of that name hear it. Nil for the next address;
  /// with `isFast`, time is virtual.
  case air(String, BluetoothAddress?, isFast: Bool)
  case tcp(host: String, port: UInt16)
  case unix(path: String)
  case serial(path: String, baud: Int)
  case replay(path: String, ReplayOptions)

  /// Whether its devices exist after the session.
  package var isReal: Bool {
    switch self {
    case .virtual, .air, .replay: false
    case .kernel, .user, .tcp, .unix, .serial: true
    }
  }

  package init(_ text: String) throws(AdapterSpecificationError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let rest = parts.count > 1 ? String(parts[1]) : ""
    if let index = AdapterIndex(text) {
      self = .kernel(index)
      return
    }
    switch parts[0] {
    case "user":
      guard let index = AdapterIndex(rest) else {
        throw AdapterSpecificationError("\(text.printable): missing adapter; use user:hci0")
      }
      self = .user(index)
    case "virtual": self = try Self.virtual(rest)
    case "tcp":
      let (host, port) = try Self.hostAndPort(rest, in: text)
      self = .tcp(host: host, port: port)
    case "unix":
      guard !rest.isEmpty else { throw AdapterSpecificationError("\(text): missing path; use unix:PATH") }
      self = .unix(path: rest)
    case "serial": self = try Self.serial(rest, in: text)
    case "replay": self = try Self.replay(rest, in: text)
    default:
      throw AdapterSpecificationError(
        "unknown adapter \"\(text.printable)\"; use hci0, user:hci0, virtual, tcp:HOST:PORT, unix:PATH, "
          + "serial:PATH[@BAUD] or replay:FILE"
      )
    }
  }

  private static func virtual(_ options: String) throws(AdapterSpecificationError) -> AdapterSpecification {
    var items = options.isEmpty ? [] : options.split(separator: ",", omittingEmptySubsequences: false)
    if items.contains(where: { $0.hasPrefix("air=") }) { return try air(items) }
    let isFast = items.contains("fast")
    items.removeAll { $0 == "fast" }
    do throws(VirtualRingOptionsError) {
      return .virtual(
        try VirtualRingOptions(parsing: "virtual:" + items.joined(separator: ",")), isFast: isFast)
    } catch {
      throw AdapterSpecificationError(error.description)
    }
  }

  private static func air(_ items: [Substring]) throws(AdapterSpecificationError) -> AdapterSpecification {
    var name = ""
    var address: BluetoothAddress?
    var isFast = true
    for item in items {
      if item.hasPrefix("air="), item.count > 4 {
        name = String(item.dropFirst(4))
      } else if item.hasPrefix("address="), let wanted = BluetoothAddress(item.dropFirst(8)) {
        address = wanted
      } else if item == "real-time" {
        isFast = false
      } else {
        throw AdapterSpecificationError(
          "virtual: an air has a name, and no ring; use virtual:air=NAME, with address=ADDRESS and real-time after commas, not \"\(String(item).printable)\""
        )
      }
    }
    return .air(name, address, isFast: isFast)
  }

  /// Reads `HOST:PORT`; an IPv6 address is in brackets.
  package static func hostAndPort(_ text: String, in whole: String) throws(AdapterSpecificationError) -> (
    host: String, port: UInt16
  ) {
    guard let colon = text.lastIndex(of: ":"), colon > text.startIndex else {
      throw AdapterSpecificationError("\(whole.printable): missing host or port; use tcp:HOST:PORT")
    }
    guard let port = UInt16(text[text.index(after: colon)...]) else {
      throw AdapterSpecificationError("\(whole.printable): the port must be a number from 0 to 65535")
    }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    return (String(host), port)
  }

  private static func serial(_ text: String, in whole: String) throws(AdapterSpecificationError)
    -> AdapterSpecification
  {
    guard !text.isEmpty else {
      throw AdapterSpecificationError("\(whole): missing path; use serial:/dev/ttyAMA0@115200")
    }
    guard let at = text.lastIndex(of: "@") else {
      return .serial(path: text, baud: HCIStreamTransport.defaultBaudRate)
    }
    guard let baud = Int(text[text.index(after: at)...]), baud > 0 else {
      throw AdapterSpecificationError(
        "\(whole.printable): the baud rate after @ must be a number such as 115200")
    }
    return .serial(path: String(text[..<at]), baud: baud)
  }

  private static func replay(_ text: String, in whole: String) throws(AdapterSpecificationError)
    -> AdapterSpecification
  {
    var path = text[...]
    var options = ReplayOptions()
    // From the end: a comma may be part of the path.
    while let comma = path.lastIndex(of: ","),
      try options.take(path[path.index(after: comma)...], of: whole)
    {
      path = path[..<comma]
    }
    guard !path.isEmpty else {
      throw AdapterSpecificationError("\(whole.printable): missing file; use replay:FILE")
    }
    return .replay(path: String(path), options)
  }
}

extension ReplayOptions {
  /// Reads an option of `replay:FILE,OPTION`.
  ///
  /// - Returns: false if it is none
  fileprivate mutating func take(
    _ text: Substring, of whole: String
  ) throws(AdapterSpecificationError) -> Bool {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let value = parts.count == 2 ? String(parts[1]) : nil
    func wrong(_ what: String) -> AdapterSpecificationError {
      AdapterSpecificationError("\(whole.printable): \(what)")
    }
    switch (parts[0], value) {
    case ("lenient", nil): strictness = .lenient
    case ("level", let value?):
      guard let level = Level(rawValue: value) else { throw wrong("level must be hci or att") }
      self.level = level
    case ("index", let value?):
      guard let index = UInt16(value), index < .max else {
        throw wrong("index must be the number of an adapter, such as 0 for hci0")
      }
      adapter = index
    case ("from", let value?):
      guard let first = Int(value), first > 0 else {
        throw wrong("from must be the number of a packet, counted from 1")
      }
      self.first = first
    case ("connection", let value?):
      guard choose(connection: value) else {
        throw wrong("connection must be a number, counted from 1, or the address of the peer")
      }
    case ("table", let value?) where !value.isEmpty: table = value
    default: return false
    }
    return true
  }

  /// Selects a connection by its number or by the address of the peer.
  ///
  /// - Returns: false if the text is neither
  package mutating func choose(connection text: String) -> Bool {
    if let number = Int(text), number > 0 {
      connection = number
    } else if let address = BluetoothAddress(text) {
      peer = address
    } else {
      return false
    }
    return true
  }
}

/// Why a text is not the specification of an adapter.
package struct AdapterSpecificationError: Error, Hashable, Sendable, CustomStringConvertible,
  AdapterStateError
{
  package let description: String

  init(_ description: String) {
    self.description = description
  }

  package var adapterState: ManagedAdapter.State { .unsupported }
}
