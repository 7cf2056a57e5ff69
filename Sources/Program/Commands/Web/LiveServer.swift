import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloHTTP
import HaloSystem
import HaloViews
import RingLink

/// The page of a stream in browsers: what happens now, as server-sent events; the day so far; and marks that a viewer sets.
@BluetoothActor
final class LiveServer {
  let session: Session
  let access: WebAccess
  private var server: HTTPServer?
  private var viewers: [ObjectIdentifier: EventStream] = [:]
  private(set) var feeds: [LiveFeed] = []
  /// The events so far, oldest first.
  private(set) var marks: [LiveMark] = []
  private(set) var earlier: EarlierRecords?
  private var timer: Timers.Token?
  /// The time 0 of the page, and the same since 1970.
  private let origin: Instant
  private var epoch: Double
  /// The folder of the output; nil if it has none.
  private var folder: String?
  /// The link to the page.
  private(set) var link = ""

  static let mostViewers = 8
  private static let mostMarks = 500
  private static let sentMarks = 50
  private static let statePause = Duration.seconds(1)
  /// In seconds: the smallest step of the clock that the page follows.
  private static let clockStep = 2.0
  /// The times of the last marks of viewers: a page that sets one after the other would drown the others.
  private var markTimes: [Instant] = []
  private static let mostMarksASecond = 5

  /// Serves the page of `--web`, if it is given, during a stream.
  static func during(
    _ invocation: Invocation, _ session: Session, _ stream: (LiveServer?) async throws -> Void
  ) async throws {
    guard let address = invocation[WebAddress.option] else { return try await stream(nil) }
    if let word = invocation.positionals.first(where: { WebAddress($0) != nil }) {
      throw Failure.usage("\(word.printable) is an address, and no ring: write --web=ADDRESS:PORT")
    }
    let server = try await LiveServer(address, session)
    let result = await outcome { try await stream(server) }
    var reason = "the stream has ended"
    if case .failure(let failure) = result, failure.code != .interrupted { reason += ": \(failure.message)" }
    server.stop(reason)
    try result.get()
  }

  private init(_ address: WebAddress, _ session: Session) async throws(Failure) {
    self.session = session
    origin = session.timers.current
    epoch = Double(session.clock.unixMicroseconds) / 1e6
    // A simulation leaves nothing behind.
    let state = session.isReal ? UserFolders.state : nil
    access = WebAccess(
      token: address.isLoopback ? nil : try WebToken.current(in: state), names: address.names)
    let server: HTTPServer
    do throws(LibraryError) {
      server = try HTTPServer { [unowned self] in answer($0) }
    } catch {
      throw Failure(
        .systemError,
        error.isMissing
          ? "--web needs libmicrohttpd, which is missing; sudo apt install libmicrohttpd12"
          : "--web: \(error)")
    }
    self.server = server
    let port: UInt16
    do throws(StackError) {
      port = try await server.start(host: address.host, port: address.port)
    } catch {
      throw Failure(.systemError, "--web: \(error); for another port: --web=\(address.withAnotherPort)")
    }
    link = address.link(port: port) + access.base
    say(isSecret: !address.isLoopback)
    scheduleState()
  }

  /// The output is open: it shows the link, and has the records of earlier runs.
  func use(_ output: LiveOutput) {
    output.link = link
    folder = output.folder
    readEarlier()
  }

  private func readEarlier() {
    earlier?.cancel()
    guard let folder else { return }
    earlier = EarlierRecords(in: folder, epoch: epoch, now: now) { [weak self] in self?.addEarlier() }
  }

  private func say(isSecret: Bool) {
    Console.error("live: \(link)")
    guard isSecret else { return }
    Console.error("halo-raw: anyone who has this link can see the stream; it is not encrypted on the way")
    guard Terminal.canDraw(on: STDERR_FILENO), Terminal.showsBraille else { return }
    guard let code = QRCode(link) else {
      return Console.error("halo-raw: for the link as a QR code: sudo apt install libqrencode4")
    }
    for line in code.lines { Console.error(line) }
  }

  /// Tells the viewers why the stream ends, and closes.
  private func stop(_ reason: String) {
    session.timers.cancel(timer)
    earlier?.cancel()
    var message = EventText("end")
    message.add("reason", reason)
    let bytes = message.finished()
    for viewer in viewers.values {
      viewer.send(bytes)
      viewer.end()
    }
    server.take()?.stop()
  }

  // MARK: Time

  var now: Double { seconds(session.timers.current) }

  /// A time on the clock of the page.
  func seconds(_ time: Instant) -> Double { (time - origin).inSeconds }

  /// A time in seconds of the loop's clock on that of the page.
  func seconds(_ time: Double) -> Double { time - origin.inSeconds }

  // MARK: Streams

  /// Adds the stream of a ring.
  func feed(of ring: RingClient, name: String?, _ kinds: SampleKinds, _ vitals: StreamVitals) -> LiveFeed {
    let feed = LiveFeed(self, index: feeds.count, of: ring, name: name, kinds, vitals, session)
    feeds.append(feed)
    addEarlier()
    send(feed.description)
    return feed
  }

  private func addEarlier() {
    for feed in feeds {
      guard let found = earlier?.take(feed.address.description) else { continue }
      feed.addEarlier(found.log)
      let known = found.marks.filter { $0.time < 0 }
      // They are read again when the clock is set.
      marks.removeAll { $0.ring == feed.index && $0.time < 0 }
      marks = (known.map { LiveMark(ring: feed.index, time: $0.time, kind: $0.kind, note: $0.note) } + marks)
        .sorted { $0.time < $1.time }.suffix(Self.mostMarks)
    }
  }

  var hasViewers: Bool { !viewers.isEmpty }

  /// Begins to send to a viewer.
  ///
  /// - Returns: nil if there are too many
  func addViewer() -> EventStream? {
    guard viewers.count < Self.mostViewers else { return nil }
    let viewer = EventStream()
    let id = ObjectIdentifier(viewer)
    viewers[id] = viewer
    viewer.onEnd = { [weak self] in self?.viewers[id] = nil }
    let beginning =
      [hello] + feeds.flatMap { [$0.description] + $0.recent }
      + marks.suffix(Self.sentMarks).map(Self.message) + feeds.map(\.state)
    for message in beginning { viewer.send(message, .opening) }
    return viewer
  }

  private var hello: [UInt8] {
    var hello = EventText("hello")
    hello.add("program", "halo-raw \(HelpPage.version)")
    hello.add("host", WebAddress.machine)
    hello.add("now", now, places: 3)
    hello.add("time", (epoch + now) * 1000, places: 0)
    hello.add("viewers", viewers.count)
    return hello.finished()
  }

  /// Sends a message to all viewers.
  ///
  /// - Parameter samples: how many samples it has: those may be left out for a slow viewer
  func send(_ message: [UInt8], samples: Int = 0) {
    for viewer in viewers.values {
      let omitted = viewer.takeOmitted()
      if omitted > 0 {
        var missed = EventText("missed")
        missed.add("samples", omitted)
        viewer.send(missed.finished())
      }
      viewer.send(message, samples > 0 ? .passing(worth: samples) : .lasting)
    }
  }

  /// Whether a viewer may set a mark now.
  func mayMark() -> Bool {
    let now = session.timers.current
    markTimes.removeAll { now - $0 > .seconds(1) }
    guard markTimes.count < Self.mostMarksASecond else { return false }
    markTimes.append(now)
    return true
  }

  func mark(_ mark: LiveMark) {
    marks.append(mark)
    if marks.count > Self.mostMarks { marks.removeFirst(Self.mostMarks / 5) }
    send(Self.message(of: mark))
  }

  private static func message(of mark: LiveMark) -> [UInt8] {
    var message = EventText("mark")
    mark.write(into: &message)
    return message.finished()
  }

  /// The clock of this computer may be set: after a start without a clock of its own, for example.
  private func followClock() {
    let now = Double(session.clock.unixMicroseconds) / 1e6 - now
    guard (now - epoch).magnitude > Self.clockStep else { return }
    epoch = now
    send(hello)
    readEarlier()
  }

  private func scheduleState() {
    timer = session.timers.schedule(after: Self.statePause) { [weak self] in
      guard let self else { return }
      followClock()
      for feed in feeds {
        feed.noteRate(at: now)
        if hasViewers { send(feed.state) }
      }
      // It shows a connection that is gone.
      if feeds.isEmpty { send(Array(":\n\n".utf8)) }
      scheduleState()
    }
  }
}
