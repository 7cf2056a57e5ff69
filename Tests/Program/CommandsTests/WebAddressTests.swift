import HaloCommandLine
import TestSupport
import Testing

@testable import HaloCommands

@Suite struct WebAddressTests {
  @Test(arguments: [
    ("8643", "127.0.0.1", 8643), ("localhost:0", "localhost", 0), ("0.0.0.0:8642", "0.0.0.0", 8642),
    (":80", "::", 80),
    ("[::1]:8642", "::1", 8642), ("[fe80::1%eth0]:1", "fe80::1%eth0", 1),
    ("0.0.0.0", "0.0.0.0", 8642), ("::", "::", 8642), ("localhost", "localhost", 8642),
    ("raspberrypi.local:65535", "raspberrypi.local", 65_535),
  ])
  func readsAddresses(_ text: String, _ host: String, _ port: UInt16) {
    let address = WebAddress(text)
    #expect(address?.host == host && address?.port == port)
  }

  /// Names and addresses of rings stay arguments.
  @Test(arguments: [
    "", ":", "R02_BEEF", "30:34:00:00:BE:EF", "30:34:00:00:00:12", "303400000012", "host:65536", "[::1]",
    "[x]:1", "::1:8642",
    "http://a:80", "a b:80", "user@host:80", "bedroom", "1.2.3", "[1.2.3.4]", "٣:٤",
  ])
  func leavesOtherArgumentsAlone(_ text: String) {
    #expect(WebAddress(text) == nil)
  }

  @Test func knowsWhichAddressesStayOnThisMachine() {
    for text in ["1", "localhost:1", "127.0.0.1:1", "127.1.2.3:1", "[::1]:1"] {
      #expect(WebAddress(text)?.isLoopback == true)
    }
    for text in ["0.0.0.0:1", ":1", "[::]:1", "192.168.1.2:1", "127.evil.example:1", "localhost.evil:1"] {
      #expect(WebAddress(text)?.isLoopback == false)
    }
  }

  @Test func linksToAnAddressThatOthersReach() {
    #expect(WebAddress("[::1]:1")?.link(port: 5) == "http://[::1]:5")
    #expect(WebAddress("pi.local:1")?.link(port: 5) == "http://pi.local:5")
    #expect(WebAddress("0.0.0.0:1")?.link(port: 5).contains("0.0.0.0") == false)
  }

  @Test func keepsItsSecret() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let first = try WebToken.current(in: folder.path)
    #expect(first.count == 24)
    #expect(try WebToken.current(in: folder.path) == first)
    #expect(try WebToken.current(in: nil) != first)
    // One that is none is replaced.
    folder.write("web-token", "../../etc/passwd\n")
    #expect(try WebToken.current(in: folder.path).count == 24)
  }
}
