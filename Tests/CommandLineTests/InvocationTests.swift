import EventLoop
import HCI
import Testing

@testable import halo_raw

@Suite struct InvocationTests {
  private func parse(_ words: String, for command: String = "stream") throws(Failure) -> Invocation {
    try Invocation(parsing: words.split(separator: " ").map(String.init), for: try Commands.named(command))
  }

  private func usage(_ words: String, for command: String = "stream") -> String? {
    do throws(Failure) {
      _ = try parse(words, for: command)
      return nil
    } catch {
      return error.code == .usage ? error.message : nil
    }
  }

  @Test func optionsStandAnywhereAndMayUseAnEqualsSign() throws {
    let invocation = try parse("--count=5 R02_BEEF --ppg -i virtual --duration 2m")
    #expect(invocation.positionals == ["R02_BEEF"])
    #expect(try invocation.integer("--count", in: 1...10) == 5)
    #expect(try invocation.duration("--duration") == .seconds(120))
    #expect(invocation.has("--ppg") && !invocation.has("--accel"))
    #expect(invocation.text("--adapter") == "virtual")
  }

  @Test func whatFollowsTwoDashesIsNoOption() throws {
    #expect(try parse("-- --ppg").positionals == ["--ppg"])
  }

  @Test func mistakesGetOneHelpfulLine() {
    #expect(usage("--cuont 5")?.contains("did you mean --count?") == true)
    #expect(usage("--count")?.contains("--count N") == true)
    #expect(usage("--ppg=1")?.contains("takes no value") == true)
    #expect(usage("one two")?.contains("two") == true)
    #expect(throws: Failure.self) { try Commands.named("steam") }
  }

  @Test(arguments: [
    ("30s", Duration.seconds(30)), ("500ms", .milliseconds(500)), ("1.5", .milliseconds(1500)),
    ("1h", .seconds(3600)), ("0", .zero),
  ])
  func timesHaveUnits(text: String, time: Duration) throws {
    #expect(try parse("--duration \(text)").duration("--duration") == time)
  }

  @Test(arguments: ["soon", "-1s", "1d", "nan", "inf", "1e300", "s", "--"])
  func otherTimesAreRefused(text: String) throws {
    let invocation = try Invocation(
      parsing: ["--duration", text], for: try Commands.named("stream"))
    #expect(throws: Failure.self) { try invocation.duration("--duration") }
  }

  @Test func handlesAreDecimalOrHexadecimal() throws {
    #expect(try parse("--handle 0x0012", for: "read").handle("--handle") == 0x12)
    #expect(try parse("--handle 18", for: "read").handle("--handle") == 0x12)
    for text in ["0", "0x10000", "-1", "65536", "x"] {
      #expect(throws: Failure.self) { try parse("--handle=\(text)", for: "read").handle("--handle") }
    }
  }

  @Test func whatIsReplayedKeepsItsOwnOptions() throws {
    let invocation = try parse("file.btsnoop stream --count 5 --lenient", for: "replay")
    #expect(invocation.positionals == ["file.btsnoop", "stream", "--count", "5", "--lenient"])
    #expect(!invocation.has("--lenient"))
  }
}

@Suite struct AdapterSpecTests {
  @Test func specsAreRead() throws {
    guard case .tcp(let host, let port) = try AdapterSpec("tcp:[::1]:9105") else {
      Issue.record("not tcp")
      return
    }
    #expect((host, port) == ("::1", 9105))
    guard case .serial(let path, let baud) = try AdapterSpec("serial:/dev/ttyAMA0@1000000") else {
      Issue.record("not serial")
      return
    }
    #expect((path, baud) == ("/dev/ttyAMA0", 1_000_000))
    guard case .replay(let file, let options) = try AdapterSpec("replay:a,b.btsnoop,index=3,from=7,lenient")
    else {
      Issue.record("not replay")
      return
    }
    #expect(file == "a,b.btsnoop" && options == .init(strictness: .lenient, adapter: 3, first: 7))
    for text in ["replay:", "replay:,lenient", "replay:a,index=65535", "replay:a,index=x", "replay:a,from=0"]
    {
      #expect(throws: Failure.self) { try AdapterSpec(text) }
    }
    guard case .virtual(let ring, let isFast) = try AdapterSpec("virtual:rate=4,fast") else {
      Issue.record("not virtual")
      return
    }
    #expect(ring.rate == 4 && isFast)
  }

  @Test func adaptersOfTheMachineAreNamedAsTheKernelNamesThem() throws {
    guard case .kernel(let index) = try AdapterSpec("hci12") else {
      Issue.record("not the kernel's")
      return
    }
    #expect(index == AdapterIndex(rawValue: 12))
    guard case .user(let taken) = try AdapterSpec("user:hci0") else {
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
  func otherSpecsAreRefused(text: String) {
    #expect(throws: Failure.self) { _ = try AdapterSpec(text) }
  }
}
