import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloStorage
import RingLink

/// What people mark in the records of this command while it runs: by `halo-raw mark`, for example.
@BluetoothActor
final class Annotations {
  /// Takes the text of a mark, and its time on the clock of the records.
  typealias Handler = (_ text: String, _ time: Instant) -> Void

  private struct Recorder {
    let ring: BluetoothAddress
    let name: String?
    let handler: Handler
  }

  private let timers: Timers
  /// In the order in which they have begun.
  private var recorders: [(id: Int, recorder: Recorder)] = []
  private var nextID = 0
  private var server: StatusServer?

  /// In characters of Unicode.
  nonisolated static let longest = 200
  /// A mark that comes later than this is one of now: its sender has another clock.
  private static let latest = Duration.seconds(5)

  init(_ timers: Timers) {
    self.timers = timers
  }

  /// Why a text is no mark; nil if it is one.
  nonisolated static func fault(of text: String) -> String? {
    let length = text.unicodeScalars.count
    if !text.contains(where: { !$0.isWhitespace }) { return "the text of a mark is empty" }
    if length > longest { return "a mark has at most \(longest) characters; this one has \(length)" }
    // A backslash is escaped in printed text, as escapes begin with it.
    guard text.split(separator: "\\").allSatisfy({ $0.utf8.elementsEqual(String($0).printable.utf8) }) else {
      return "a mark is one line of visible text; \(text.printable) has control characters: leave them out"
    }
    return nil
  }

  /// Passes on the marks of a ring, from now on.
  ///
  /// - Parameters:
  ///   - ring: its address
  ///   - name: its name, if it is known
  /// - Returns: a closure that ends this
  func onMark(
    of ring: BluetoothAddress, name: String?, _ handler: @escaping Handler
  ) -> () -> Void {
    let id = nextID
    nextID += 1
    recorders.append((id, Recorder(ring: ring, name: name, handler: handler)))
    return { self.recorders.removeAll { $0.id == id } }
  }

  /// Marks the records of a ring, or of all. A text that has a ``fault(of:)`` marks nothing.
  ///
  /// - Parameters:
  ///   - ring: the address; nil for all rings of this command
  ///   - time: of the mark, on the clock of the records
  /// - Returns: the names of the rings whose records are marked; the address of one without a name
  @discardableResult
  func add(_ text: String, to ring: BluetoothAddress?, at time: Instant) -> [String] {
    add(text, to: ring.map { .address($0.value, $0.kind) } ?? .anyRing, at: time)
  }

  private func add(_ text: String, to selector: RingSelector, at time: Instant) -> [String] {
    guard Self.fault(of: text) == nil else { return [] }
    let meant = recorders.map(\.recorder).filter { selector.isMeant(name: $0.name, address: $0.ring) }
    for recorder in meant { recorder.handler(text, time) }
    return meant.map { $0.name ?? $0.ring.description }
  }

  /// Takes marks of `halo-raw mark`, until ``stop()``.
  ///
  /// - Parameter command: the name of the command
  func serve(command: String) {
    // The same folder has the socket of `halo-raw status`, which says why there is none.
    server = try? StatusServer(.mark) { [weak self] bytes, reply in
      guard let self, let request = MarkRequest(bytes) else { return reply(.null) }
      let age = EpollLoop.shared.timers.current - request.time
      let delay = (.zero...Self.latest).contains(age) ? age : .zero
      let time = (timers.current + (.zero - delay)).wholeMicroseconds
      let marked = add(request.text, to: request.ring.map { RingSelector($0) } ?? .anyRing, at: time)
      reply(MarkAnswer(command: command, rings: marked).json)
    }
  }

  /// Takes no more.
  func stop() { server.take()?.stop() }
}

/// A mark on its way to another command.
struct MarkRequest {
  /// In bytes, as JSON: each character of the text may be an escape.
  static let longest = 4096

  var text: String
  /// The address or the name of the one ring; nil for all.
  var ring: String?
  /// When it was asked for, on the kernel's monotonic clock, which all processes share.
  var time: Instant

  init(_ text: String, ring: RingSelector?, at time: Instant) {
    (self.text, self.time) = (text, time)
    switch ring {
    case .name(let name): self.ring = name
    case .address(let value, _): self.ring = BluetoothAddress(value, .public).description
    case .anyRing, nil: self.ring = nil
    }
  }

  /// - Returns: nil for what another program has sent
  init?(_ bytes: [UInt8]) {
    guard let json = try? JSONValue(parsing: bytes), let text = json.found("text", as: String.self),
      let time = json.found("monotonic_ns", as: Int.self)
    else { return nil }
    self.text = text
    self.time = Instant(nanoseconds: Int64(time))
    ring = json.found("ring", as: String.self)
  }

  var bytes: [UInt8] {
    let json = JSONValue.members([
      "text": .string(text), "ring": ring.map { .string($0) },
      "monotonic_ns": .integer(Int(time.nanoseconds)),
    ])
    return Array(json.line.utf8)
  }
}

/// What a command says of a mark.
struct MarkAnswer {
  /// The name of the command.
  var command: String
  /// The names of the rings whose records are marked.
  var rings: [String]

  init(command: String, rings: [String]) { (self.command, self.rings) = (command, rings) }

  /// - Returns: nil for no answer
  init?(_ bytes: [UInt8]) {
    guard let json = try? JSONValue(parsing: bytes), let command = json.found("command", as: String.self),
      case .array(let names)? = json.found("rings")
    else { return nil }
    self.command = command
    rings = names.compactMap { if case .string(let name) = $0 { name } else { nil } }
  }

  var json: JSONValue { .object(["command": .string(command), "rings": .array(rings.map { .string($0) })]) }
}
