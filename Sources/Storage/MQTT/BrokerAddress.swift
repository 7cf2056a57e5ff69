import HaloBluetoothCore

/// Where messages go: a broker, and the start of all topics.
///
/// `mqtt://[USER[:PASSWORD]@]HOST[:PORT]/PREFIX`; `mqtts` for TLS. Bytes that have a meaning in a URL are written as
/// `%XX`.
package struct BrokerAddress: Hashable, Sendable {
  /// A name or an address.
  package private(set) var host: String
  package private(set) var port: Int
  package private(set) var usesTLS: Bool
  package private(set) var user: String?
  /// The password of the user, if it has one.
  package var password: String?
  /// The start of all topics, without a slash at its end.
  package private(set) var prefix: String

  /// Why a text is not the address of a broker.
  package struct Malformed: Error, Hashable, CustomStringConvertible {
    package var description: String
  }

  /// The form of an address, for messages.
  package static let form = "mqtt://[USER:PASSWORD@]HOST[:PORT]/PREFIX"
  /// In bytes: topics and the names of files are made of it.
  private static let maximumPrefix = 100

  package init(_ text: String) throws(Malformed) {
    guard let separator = text.firstRange(of: "://") else {
      throw Malformed(description: "it has to begin with mqtt:// or mqtts://")
    }
    switch text[..<separator.lowerBound].lowercased() {
    case "mqtt": (usesTLS, port) = (false, 1883)
    case "mqtts": (usesTLS, port) = (true, 8883)
    default: throw Malformed(description: "it has to begin with mqtt:// or mqtts://")
    }
    let rest = text[separator.upperBound...]
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    var authority = rest[..<slash]
    if let at = authority.lastIndex(of: "@") {
      let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      user = try Self.decoded(parts[0], of: "the user")
      guard user?.isEmpty == false else { throw Malformed(description: "the user is empty") }
      if parts.count > 1 { password = try Self.decoded(parts[1], of: "the password") }
      authority = authority[authority.index(after: at)...]
    }
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else {
        throw Malformed(description: "the ] behind the host is missing")
      }
      host = String(authority[authority.index(after: authority.startIndex)..<end])
      authority = authority[authority.index(after: end)...]
    } else {
      let end = authority.firstIndex(of: ":") ?? authority.endIndex
      host = try Self.decoded(authority[..<end], of: "the host")
      authority = authority[end...]
    }
    guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      throw Malformed(description: "the host is missing or malformed")
    }
    if !authority.isEmpty {
      guard authority.first == ":", let number = Int(authority.dropFirst()), (1...65535).contains(number)
      else {
        throw Malformed(description: "the port has to be a number from 1 to 65535")
      }
      port = number
    }
    var path = rest[slash...].dropFirst()
    while path.last == "/" { path.removeLast() }
    prefix = try Self.decoded(path, of: "the prefix")
    try checkPrefix()
  }

  private func checkPrefix() throws(Malformed) {
    guard !prefix.isEmpty else {
      throw Malformed(description: "the prefix of the topics is missing: add a path, as in mqtt://HOST/rings")
    }
    try Self.check(prefix: prefix)
  }

  /// Checks that topics can begin with a text that is not empty.
  package static func check(prefix: String) throws(Malformed) {
    guard prefix.utf8.count <= maximumPrefix else {
      throw Malformed(description: "the prefix is longer than \(maximumPrefix) bytes")
    }
    let isPlain = prefix.unicodeScalars.allSatisfy {
      $0.value >= 0x20 && $0.value != 0x7F && $0 != "+" && $0 != "#"
    }
    guard isPlain, prefix.first != "$", prefix.first != "/", prefix.firstRange(of: "//") == nil else {
      throw Malformed(
        description: "the prefix must not have +, #, control characters or empty levels, nor begin with $")
    }
  }

  /// Replaces `%XX`.
  private static func decoded(_ text: Substring, of part: String) throws(Malformed) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let value = Hex.bytes(String(Substring(rest.prefix(2)))), value.count == 1, value[0] != 0 else {
        throw Malformed(description: "\(part) has a % without two hexadecimal digits behind it")
      }
      bytes += value
      rest = rest.dropFirst(2)
    }
    guard let decoded = String(validating: bytes, as: UTF8.self) else {
      throw Malformed(description: "\(part) is not UTF-8")
    }
    return decoded
  }

  /// The broker in messages.
  package var title: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)".printable }

  /// A name for files: the same for the same broker and prefix, and different for others.
  package var fileName: String {
    var name = ""
    for byte in "\(host.lowercased()):\(port)/\(prefix)".utf8 {
      let isPlain =
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "-")
        || byte == UInt8(ascii: ".")
      name += isPlain ? String(UnicodeScalar(byte)) : "_" + Hex.string(CollectionOfOne(byte))
    }
    guard name.utf8.count > 160 else { return name }
    return name.prefix(140) + "_" + String(FNV1a.hash(name.utf8), radix: 16)
  }
}

/// The security of a TLS connection, besides the certificates that the system trusts. All are paths of PEM files.
package struct BrokerSecurity: Hashable, Sendable {
  /// The authorities that may have signed the certificate of the broker; nil for those that the system trusts.
  package var authorities: String?
  /// The certificate that says who this client is, and its key, without a password; nil if the broker wants none.
  package var certificate: String?
  package var key: String?

  /// Where Debian has the authorities that the system trusts.
  static let systemFolder = "/etc/ssl/certs"

  package init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
    self.authorities = authorities
    self.certificate = certificate
    self.key = key
  }

  /// The meaning of an OpenSSL error for a connection to a broker, and a remedy.
  ///
  /// - Parameters:
  ///   - text: the error, as libmosquitto logs it
  ///   - port: of the broker
  static func explanation(of text: String, port: Int) -> String {
    let lower = text.lowercased()
    func has(_ words: String...) -> Bool { words.contains { lower.contains($0) } }
    if has("wrong version number", "packet length too long", "http request", "record overflow") {
      return
        "there is no TLS at port \(port); use mqtt://, or the broker's port for TLS, which is mostly 8883"
    }
    if has("certificate verify failed", "unable to get local issuer", "self-signed", "self signed") {
      return
        "the certificate of the broker is not signed by a trusted authority (certificate verify failed); "
        + "name the file of its authority with --mqtt-ca"
    }
    if has("host name verification failed") {
      return "the certificate of the broker is for another name; use the name that is in it"
    }
    if has("certificate required", "bad certificate", "handshake failure", "unknown ca") {
      return "the broker does not accept the certificate of this client; check --mqtt-cert and --mqtt-key"
    }
    if has("unexpected eof") {
      return
        "the broker has ended the connection before TLS was ready; if port \(port) is not for TLS, use mqtt://"
    }
    return text
  }
}
