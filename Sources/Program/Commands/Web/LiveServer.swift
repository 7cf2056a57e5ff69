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
  private let epoch: Double
  /// The link to the page.
  private(set) var link = ""

  static let mostViewers = 8
  private static let mostMarks = 500
  private static let sentMarks = 50
  private static let statePause = Duration.seconds(1)

  /// Listens, and says where.
  ///
  /// - Returns: nil without `--web`
  static func start(
    _ invocation: Invocation, _ session: Session, _ live: LiveOutput
  ) async throws(Failure) -> LiveServer? {
    guard let address = invocation[WebAddress.option] else { return nil }
    let server = try await LiveServer(
      address, session, folder: live.folder, state: session.isReal ? UserFolders.state : nil)
    live.link = server.link
    return server
  }

  /// - Parameters:
  ///   - folder: the folder of `--output`; nil if it is none
  ///   - state: the folder where the secret of the link is kept; nil for one that is not
  private init(
    _ address: WebAddress, _ session: Session, folder: String?, state: String?
  ) async throws(Failure) {
    self.session = session
    origin = session.timers.current
    epoch = Double(session.clock.unixMicroseconds) / 1e6
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
      throw Failure(.systemError, "--web: \(error); give another address or port, such as --web=8643")
    }
    link = address.link(port: port) + access.base
    say(isSecret: !address.isLoopback)
    scheduleState()
    if let folder {
      earlier = EarlierRecords(in: folder, epoch: epoch, now: now) { [weak self] in self?.addEarlier() }
    }
  }

  private func say(isSecret: Bool) {
    Console.error("live: \(link)")
    guard isSecret else { return }
    Console.error("halo-raw: whoever has this link sees the stream; it is not encrypted on the way")
    guard Terminal.canDraw(on: STDERR_FILENO), Terminal.showsBraille, let code = QRCode(link) else { return }
    for line in code.lines { Console.error(line) }
  }

  /// Tells the viewers that the program ends, and closes.
  func stop() {
    session.timers.cancel(timer)
    earlier?.cancel()
    var message = EventText("end")
    message.add("reason", "the stream has ended")
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
    for feed in feeds { if let log = earlier?.take(feed.address.description) { feed.addEarlier(log) } }
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
    var hello = EventText("hello")
    hello.add("program", "halo-raw \(HelpPage.version)")
    hello.add("host", WebAddress.machine)
    hello.add("now", now, places: 3)
    hello.add("time", (epoch + now) * 1000, places: 0)
    hello.add("viewers", viewers.count)
    viewer.send(hello.finished())
    for feed in feeds { viewer.send(feed.description) }
    for mark in marks.suffix(Self.sentMarks) { viewer.send(Self.message(of: mark)) }
    for feed in feeds { viewer.send(feed.state) }
    return viewer
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

  private func scheduleState() {
    timer = session.timers.schedule(after: Self.statePause) { [weak self] in
      guard let self else { return }
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
