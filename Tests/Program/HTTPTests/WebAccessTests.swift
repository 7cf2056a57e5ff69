import HaloHTTP
import Testing

/// The situations are those of public reports: quick-lint-js #951 and canonry #1177 (a name that leads to this machine),
/// quarkus-mcp-server #902 (a name that begins like an allowed one), uebersicht #488 (Host and Origin together).
@Suite struct WebAccessTests {
  private let local = WebAccess(token: nil, names: ["raspberrypi", "raspberrypi.local"])
  private let open = WebAccess(
    token: "abcdefghijkmnpqrstuvwxyz", names: ["raspberrypi", "raspberrypi.local"])

  private func check(
    _ access: WebAccess, _ path: String = "/", host: String? = "127.0.0.1:8642", origin: String? = nil,
    site: String? = nil
  ) -> Result<String, WebAccess.Refusal> {
    Result { () throws(WebAccess.Refusal) in
      try access.check(path: path, host: host, origin: origin, site: site)
    }
  }

  @Test(arguments: [
    "127.0.0.1:8642", "127.0.0.1", "localhost:9000", "LOCALHOST", "localhost.", "[::1]:8642",
    "[fe80::1%eth0]:80",
    "192.168.1.20:8642", "raspberrypi:8642", "RaspberryPi.local.:8642",
  ])
  func takesAddressesAndOwnNames(_ host: String) {
    #expect(check(local, host: host) == .success(""))
  }

  @Test(arguments: [
    nil, "", "evil.example", "evil.example:8642", "localhost.evil.example", "127.0.0.1.evil.example",
    "raspberrypi.evil",
    "127.0.0.1:8642@evil.example", "[::1].evil.example", "[::1", "[evil]", "127.0.0.1:", "127.0.0.1:80x",
    "127.1", "0x7f000001",
    ".", ":8642",
  ])
  func refusesOtherNames(_ host: String?) {
    #expect(check(local, host: host) == .failure(.host))
  }

  @Test func refusesOtherOrigins() {
    for origin in [
      "null", "http://evil.example", "http://127.0.0.1:9999", "http://127.0.0.1:8642.evil.example", "file://",
    ] {
      #expect(check(local, origin: origin) == .failure(.origin))
    }
    #expect(check(local, origin: "http://127.0.0.1:8642") == .success(""))
    // A proxy with a certificate in front of it keeps the name.
    #expect(check(local, host: "raspberrypi.local", origin: "https://RaspberryPi.local") == .success(""))
  }

  @Test func refusesRequestsThatOtherSitesMake() {
    #expect(check(local, site: "cross-site") == .failure(.origin))
    #expect(check(local, site: "same-site") == .failure(.origin))
    #expect(check(local, site: "same-origin") == .success(""))
    #expect(check(local, site: "none") == .success(""))
  }

  @Test func asksForTheTokenInEveryPath() {
    #expect(open.base == "/abcdefghijkmnpqrstuvwxyz/")
    #expect(check(open, "/abcdefghijkmnpqrstuvwxyz/") == .success(""))
    #expect(check(open, "/abcdefghijkmnpqrstuvwxyz/events") == .success("events"))
    for path in [
      "/", "", "/events", "/abcdefghijkmnpqrstuvwxy1/",
      "/ABCDEFGHIJKMNPQRSTUVWXYZ/",
    ] {
      #expect(check(open, path) == .failure(.token))
    }
    #expect(check(open, "/abcdefghijkmnpqrstuvwxyz") == .failure(.slash))
  }
}
