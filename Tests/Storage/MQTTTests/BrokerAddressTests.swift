import HaloMQTT
import Testing

@Suite struct BrokerAddressTests {
  @Test func aPlainAddressHasTheStandardPort() throws {
    let address = try BrokerAddress("mqtt://broker.example/rings")
    #expect(address.host == "broker.example")
    #expect(address.port == 1883)
    #expect(!address.usesTLS)
    #expect(address.user == nil)
    #expect(address.prefix == "rings")
  }

  @Test func anAddressWithEverything() throws {
    let address = try BrokerAddress("MQTTS://me%40home:p%3Ass%2Fw@[fe80::1]:9000/house/rings%20here/")
    #expect(address.host == "fe80::1")
    #expect(address.port == 9000)
    #expect(address.usesTLS)
    #expect(address.user == "me@home")
    #expect(address.password == "p:ss/w")
    #expect(address.prefix == "house/rings here")
    #expect(address.title == "[fe80::1]:9000")
    #expect(try BrokerAddress("mqtts://host/a").port == 8883)
  }

  @Test func aPasswordThatIsGivenElsewhereIsThatOfTheUser() throws {
    #expect(try BrokerAddress("mqtt://me@host/a").password == nil)
    #expect(try BrokerAddress("mqtt://me:own@host/a").password == "own")
  }

  @Test(arguments: [
    ("host/rings", "mqtt://"), ("http://host/rings", "mqtt://"), ("mqtt://host", "prefix"),
    ("mqtt://host/", "prefix"), ("mqtt:///rings", "host"), ("mqtt://host:0/rings", "port"),
    ("mqtt://host:65536/rings", "port"), ("mqtt://host:x/rings", "port"), ("mqtt://[::1/rings", "]"),
    ("mqtt://host/a%2", "hexadecimal"), ("mqtt://host/%00", "hexadecimal"), ("mqtt://host/%FF", "UTF-8"),
    ("mqtt://host/a/+", "+"), ("mqtt://host/%23", "#"), ("mqtt://host/$SYS", "$"),
    ("mqtt://host/a//b", "levels"),
    ("mqtt://:secret@host/a", "user"), ("mqtt://ho st/a", "host"), ("mqtt://host/a%0Ab", "control"),
    ("mqtt://host/" + String(repeating: "x", count: 101), "longer"),
  ])
  func aMalformedAddressIsRefusedWithItsReason(_ text: String, _ reason: String) {
    let error = #expect(throws: BrokerAddress.Malformed.self) { try BrokerAddress(text) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }

  /// Two queues must never be one file, and no name may leave the folder.
  @Test func eachBrokerAndPrefixHasItsFile() throws {
    let long = String(repeating: "a/", count: 49)
    let texts = [
      "mqtt://host/a", "mqtt://host/b", "mqtt://host:1884/a", "mqtt://other/a", "mqtt://host/a/b",
      "mqtt://host/a_2fb", "mqtt://host/..", "mqtt://host/\(long)b", "mqtt://host/\(long)c",
    ]
    let names = try texts.map { try BrokerAddress($0).fileName }
    #expect(Set(names).count == texts.count)
    #expect(names.allSatisfy { !$0.contains("/") && $0.utf8.count < 200 })
    // The password may change.
    #expect(
      try BrokerAddress("mqtt://me:x@host/a").fileName == BrokerAddress("mqtt://HOST:1883/a/").fileName)
  }
}
