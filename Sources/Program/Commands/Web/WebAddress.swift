import Glibc
import HaloCommandLine
import HaloHTTP
import HaloStorage
import HaloSystem

/// Where `--web` serves its page.
struct WebAddress: Hashable, Sendable {
  /// A name or an address of this machine, without brackets.
  let host: String
  let port: UInt16

  static let standard = WebAddress(host: "127.0.0.1", port: 8642)

  static let option = Option(
    "--web", as: .webAddress, bare: .standard, following: true,
    help: """
      show the stream in a browser, at this address (default: 127.0.0.1:8642, for this machine alone); 0.0.0.0 is for its \
      networks, too, by a link with a secret
      """)

  private init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }

  /// `PORT`, `HOST:PORT`, `:PORT` for all addresses, `[IPV6]:PORT`, or `IPV4` alone; nil for any other
  /// text, such as the address of a ring.
  init?(_ text: String) {
    var numbers = (in_addr(), in6_addr())
    // Another address of IPv6 could have a port behind its last colon.
    if inet_pton(AF_INET, text, &numbers.0) == 1 || ["::", "::1", "localhost"].contains(text) {
      self.init(host: text, port: Self.standard.port)
      return
    }
    let digits = text.reversed().prefix { $0.isASCII && $0.isNumber }
    guard let port = UInt16(String(digits.reversed())) else { return nil }
    var host = String(text.dropLast(digits.count))
    guard !host.isEmpty else {
      self.init(host: Self.standard.host, port: port)
      return
    }
    guard host.removeLast() == ":" else { return nil }
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
      guard inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &numbers.1) == 1 else { return nil }
    } else {
      guard !host.contains(where: { ":/@[] ".contains($0) }) else { return nil }
    }
    self.init(host: host.isEmpty ? "::" : host, port: port)
  }

  /// Whether programs of this machine alone reach it.
  var isLoopback: Bool {
    host == "localhost" || host == "::1"
      || host.hasPrefix("127.") && host.allSatisfy { $0 == "." || $0.isNumber }
  }

  /// Whether it stands for all addresses of this machine.
  private var isAny: Bool { host == "0.0.0.0" || host == "::" || host == "0" }

  /// The same address with a port that may be free, as it is written.
  var withAnotherPort: String {
    let other = port >= 1024 && port < .max ? port + 1 : Self.standard.port
    return (host.contains(":") ? "[\(host)]" : host) + ":\(other)"
  }

  /// The name of this machine; empty if it has none.
  static var machine: String {
    var name = [UInt8](repeating: 0, count: 256)
    guard name.withUnsafeMutableBytes({ $0.baseAddress.map { gethostname($0, 255) } }) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// The names by which browsers may ask for it.
  var names: [String] { [host, Self.machine, Self.machine + ".local"].filter { !$0.isEmpty } }

  /// The address in a link: that of the first network, if it stands for all.
  ///
  /// - Parameter port: the port that is listened on
  func link(port: UInt16) -> String {
    let shown = isAny ? Self.networkAddress ?? "127.0.0.1" : host
    return "http://" + (shown.contains(":") ? "[\(shown.replacing("%", with: "%25"))]" : shown) + ":\(port)"
  }

  /// An address of this machine that others of its network reach: one of IPv4 if there is one.
  private static var networkAddress: String? {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return nil }
    defer { freeifaddrs(first) }
    for found in sequence(first: first, next: { $0?.pointee.ifa_next }) {
      guard let one = found?.pointee, let address = one.ifa_addr, address.pointee.sa_family == AF_INET,
        one.ifa_flags & UInt32(IFF_UP) != 0, one.ifa_flags & UInt32(IFF_LOOPBACK) == 0
      else { continue }
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let length = socklen_t(MemoryLayout<sockaddr_in>.size)
      guard getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
        continue
      }
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return nil
  }
}

extension ArgumentType where Value == WebAddress {
  fileprivate static var webAddress: Self {
    ArgumentType(
      placeholder: "ADDRESS:PORT", expected: "a port, or an address and a port, such as 0.0.0.0:8642"
    ) {
      WebAddress($0)
    }
  }
}

/// The secret in the link to a page that others of a network can reach. It stays, so that a link on the home screen of a phone
/// leads to the page tomorrow, too.
enum WebToken {
  private static let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")
  /// Each letter has 5 bits.
  private static let length = 24

  /// - Parameter folder: where it is kept; nil for one that is not
  static func current(in folder: String?) throws(Failure) -> String {
    var token = make()
    guard let folder else { return token }
    do throws(FileError) {
      try StateFile(path: folder + "/web-token", limit: 1024).update { found throws(FileError) in
        let known = try found.get().map {
          String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }
        if let known, known.count == length, known.allSatisfy({ letters.contains($0) }) {
          token = known
          return nil
        }
        return Array((token + "\n").utf8)
      }
    } catch {
      throw Failure(.cannotOpenFile, "cannot keep the secret of the link of --web: \(error)")
    }
    return token
  }

  private static func make() -> String {
    String((0..<length).map { _ in letters[Int.random(in: 0..<letters.count)] })
  }
}
