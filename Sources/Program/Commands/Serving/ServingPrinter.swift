import ATT
import GAP
import HaloGATT
import HaloBluetoothCore
import HaloViews
import HaloCommandLine

/// Prints the accesses of devices to the served attributes.
@BluetoothActor
final class ServingPrinter {
  private var clock: RecordClock
  private let timers: Timers
  private let start: Instant
  private let database: AttributeDatabase
  private let security: SecurityHost
  private var printer: RecordPrinter

  private static let columns = [
    "t", "time", "kind", "peer", "handle", "uuid", "value", "text", "decoded", "reason",
  ]

  /// - Parameter start: the zero of the times of the records
  init(_ format: OutputFormat, _ session: Session, since start: Instant, _ database: AttributeDatabase) {
    clock = session.clock.recordClock
    timers = session.timers
    self.start = start
    security = session.security
    self.database = database
    printer = RecordPrinter(format, Self.columns, output: Console.output(.drop))
  }

  /// Nothing follows.
  func finish() { printer.finish() }

  func watch(_ link: GATTLink) {
    let peer = link.peer.description
    print("connected", peer, text: "\(peer) (\(link.peer.kind)) connected")
    link.server?.onEvent = { [weak self] event in self?.print(event, peer) }
    link.reportRefusals(title: "halo-raw")
    link.whenChanged { [weak self] event in
      guard let self, case .paired(let method, let strength, let isKept) = event else { return }
      // One with an address that changes has said which one stays.
      let identity = security.bonded(.peripheral).identity(of: link.peer)
      let name = identity == link.peer ? "" : " as \(identity)"
      let kept = isKept ? "" : ", for this link only"
      print(
        "paired", peer, reason: "\(method)\(name)",
        text: "\(peer) has paired\(name)\(kept): \(method), \(strength)")
    }
    link.whenDisconnected { [weak self] loss in
      self?.print("disconnected", peer, reason: "\(loss)", text: "\(peer) disconnected: \(loss)")
    }
  }

  private func print(_ event: ServerBearer.Event, _ peer: String) {
    switch event {
    case .written(let handle, let value):
      let uuid = database.uuid(of: handle)
      let meaning = DecodedValue(value, of: uuid)
      print(
        "written", peer, handle, value: value, meaning: meaning,
        text: "\(peer) writes \(handle)\(name(uuid)) = \(meaning.brief)")
    case .configured(let handle, let configuration):
      let uuid = database.uuid(of: handle)
      let kind = configuration.isEmpty ? "unsubscribed" : "subscribed"
      print(
        kind, peer, handle,
        text:
          "\(peer) \(configuration.isEmpty ? "unsubscribes from" : "subscribes to") \(handle)\(name(uuid))")
    case .unanswered, .confirmed, .unexpectedConfirmation: break
    }
  }

  private func name(_ uuid: BluetoothUUID?) -> String {
    uuid.map { " " + (GATTUUID.attributeName(of: $0) ?? $0.description) } ?? ""
  }

  private func print(
    _ kind: String, _ peer: String, _ handle: AttributeHandle? = nil, value: [UInt8]? = nil,
    meaning: DecodedValue? = nil,
    reason: String? = nil, text: String
  ) {
    let now = timers.now
    printer.print(
      [
        .seconds(now.nanoseconds(since: start)), .text(clock.text(now)), .text(kind), .text(peer),
        .number(handle.map { Int($0.rawValue) }),
        .text(handle.flatMap { database.uuid(of: $0)?.description }),
        .text(value.map { Hex.string($0) }), .text(value.map { String(printable: $0) }),
        .text(meaning?.words),
        .text(reason),
      ], text: text)
  }
}

extension AttributeDatabase {
  fileprivate func uuid(of handle: AttributeHandle) -> BluetoothUUID? {
    attributes.first { $0.handle == handle }?.type
  }
}
