import Glibc

/// Who may read a page that is served: a browser that was given its link, and no page of another site. A site whose name
/// leads to this machine (DNS rebinding) is known by its name in the header Host, another page by Origin and Sec-Fetch-Site.
package struct WebAccess: Sendable {
  package enum Refusal: Error, Hashable, Sendable {
    /// The request is for another machine.
    case host
    /// Another page has made it.
    case origin
    /// Its path does not begin with the token.
    case token
    /// Its path is the token without what follows it: links on the page would lead elsewhere.
    case slash
  }

  /// The first part of every path; nil if none is needed.
  private let token: String?
  private let names: Set<String>

  /// - Parameters:
  ///   - token: the first part of every path; nil for a server that this machine alone can reach
  ///   - names: the names of this machine, besides `localhost` and addresses in numbers
  package init(token: String?, names: [String]) {
    self.token = token
    self.names = Set(names.map { $0.lowercased() } + ["localhost"])
  }

  /// Where all paths begin: `/`, or the token between two of them.
  package var base: String { token.map { "/\($0)/" } ?? "/" }

  /// Checks a request.
  ///
  /// - Parameters:
  ///   - path: with its escapes resolved
  ///   - host: the header Host
  ///   - origin: the header Origin
  ///   - site: the header Sec-Fetch-Site
  ///   - mode: the header Sec-Fetch-Mode
  /// - Returns: the path behind ``base``
  package func check(
    path: String, host: String?, origin: String?, site: String?, mode: String? = nil
  ) throws(Refusal) -> String {
    guard let host = host?.lowercased(), isOwn(host) else { throw .host }
    if let origin = origin?.lowercased(), origin != "http://" + host, origin != "https://" + host {
      throw .origin
    }
    // A link on another page leads here; it does not read what is here.
    let isLink = mode == "navigate" && path == base
    if let site = site?.lowercased(), site != "same-origin", site != "none", !isLink { throw .origin }
    if path.utf8.count == base.utf8.count - 1, Self.areEqual(path.utf8, base.utf8.dropLast()) { throw .slash }
    guard path.utf8.count >= base.utf8.count, Self.areEqual(path.utf8.prefix(base.utf8.count), base.utf8)
    else {
      throw .token
    }
    return String(path.utf8.dropFirst(base.utf8.count)) ?? ""
  }

  /// Whether a value of Host, with or without a port, is an address in numbers or a name of this machine. An address can't be
  /// made to lead elsewhere.
  private func isOwn(_ host: String) -> Bool {
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]"), Self.isPort(host[host.index(after: end)...]) else {
        return false
      }
      let address = host[host.index(after: host.startIndex)..<end].prefix { $0 != "%" }
      var numbers = in6_addr()
      return inet_pton(AF_INET6, String(address), &numbers) == 1
    }
    let name = host.prefix { $0 != ":" }
    guard Self.isPort(host[name.endIndex...]) else { return false }
    var numbers = in_addr()
    return inet_pton(AF_INET, String(name), &numbers) == 1
      || names.contains(name.hasSuffix(".") ? String(name.dropLast()) : String(name))
  }

  /// Nothing, or a colon and a number.
  private static func isPort(_ text: Substring) -> Bool {
    text.isEmpty
      || text.first == ":" && text.count > 1 && text.dropFirst().allSatisfy { ("0"..."9").contains($0) }
  }

  /// Takes as long for any text of the same length.
  private static func areEqual(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
