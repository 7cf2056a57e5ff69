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
