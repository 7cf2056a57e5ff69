import HCI
import HaloBluetoothCore
import HaloRaw
import Testing

@Suite struct AdapterSpecificationTests {
  @Test func specificationsAreRead() throws {
    guard case .tcp(let host, let port) = try AdapterSpecification("tcp:[::1]:9105") else {
      Issue.record("not tcp")
      return
    }
    #expect((host, port) == ("::1", 9105))
    guard case .serial(let path, let baud) = try AdapterSpecification("serial:/dev/ttyAMA0@1000000") else {
      Issue.record("not serial")
      return
    }
    #expect((path, baud) == ("/dev/ttyAMA0", 1_000_000))
    guard
      case .replay(let file, let options) = try AdapterSpecification(
        "replay:a,b.btsnoop,index=3,from=7,lenient,level=att,connection=2,table=t.jsonl")
    else {
      Issue.record("not replay")
      return
    }
    var wanted = ReplayOptions()
    wanted.strictness = .lenient
    wanted.adapter = 3
    wanted.first = 7
    wanted.level = .att
    wanted.connection = 2
    wanted.table = "t.jsonl"
    #expect(file == "a,b.btsnoop" && options == wanted)
    guard case .replay(_, let byPeer) = try AdapterSpecification("replay:a,connection=C0:11:22:33:A1:B2")
    else {
      Issue.record("not replay")
      return
    }
    #expect(byPeer.peer == BluetoothAddress(0xC011_2233_A1B2, .random) && byPeer.level == nil)
    for text in [
      "replay:", "replay:,lenient", "replay:a,index=65535", "replay:a,index=x", "replay:a,from=0",
      "replay:a,level=l2cap", "replay:a,connection=0", "replay:a,connection=ring",
    ] {
      #expect(throws: AdapterSpecificationError.self) { try AdapterSpecification(text) }
    }
    guard case .virtual(let ring, let isFast) = try AdapterSpecification("virtual:rate=4,fast") else {
      Issue.record("not virtual")
      return
    }
    #expect(ring.rate == 4 && isFast)
  }

  @Test func adaptersOfTheMachineAreNamedAsTheKernelNamesThem() throws {
    guard case .kernel(let index) = try AdapterSpecification("hci12") else {
      Issue.record("not the kernel's")
      return
    }
    #expect(index == AdapterIndex(rawValue: 12))
    guard case .user(let taken) = try AdapterSpecification("user:hci0") else {
      Issue.record("not the user channel")
      return
    }
    #expect(taken == AdapterIndex(rawValue: 0))
  }

  @Test(arguments: [
    "", "hci", "hci-1", "hci00", "hci65535", "hci0,x", "user:", "user:0", "user:hci0:1", "tcp:", "tcp:host",
    "tcp::1", "tcp:host:99999", "unix:", "serial:", "serial:/dev/x@fast",
    "replay:", "virtual:rate=fast", "virtual:,",
  ])
  func rejectsInvalidSpecifications(text: String) {
    #expect(throws: AdapterSpecificationError.self) { _ = try AdapterSpecification(text) }
  }
}
