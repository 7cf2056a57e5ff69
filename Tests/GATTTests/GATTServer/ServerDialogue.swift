import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

/// A server that is asked: PDUs are spelled in hexadecimal digits or made of fields, and the time is told.
final class ServerDialogue {
  let database: AttributeDatabase
  let unlinked: InMemoryServer
  private(set) var events: [ServerBearer.Event] = []

  var server: ServerBearer { unlinked.server }
  var timers: Timers { unlinked.timers }

  init(_ database: AttributeDatabase, mtu: Int = 517, security: LinkSecurity = .none) {
    self.database = database
    unlinked = InMemoryServer(database, mtu: mtu)
    server.security = security
    server.onEvent = { [unowned self] in events.append($0) }
  }

  convenience init(_ attributes: [ServerAttribute], mtu: Int = 517) {
    self.init(AttributeDatabase(attributes), mtu: mtu)
  }

  /// The server of a database that `build` fills.
  convenience init(mtu: Int = 517, security: LinkSecurity = .none, _ build: (AttributeDatabase) -> Void) {
    let database = AttributeDatabase()
    build(database)
    self.init(database, mtu: mtu, security: security)
  }

  /// Another client of the same device.
  func otherClient() -> ServerDialogue { ServerDialogue(database) }

  /// The answer to a PDU, in hexadecimal digits; several have spaces between them.
  func ask(_ bytes: String) -> String {
    let bytes = hex(bytes)
    return unlinked.receive(bytes.span.bytes).map { Hex.string($0) }.joined(separator: " ")
  }

  func ask(_ request: any ATTPDU) -> (any ATTPDU)? {
    let sent = unlinked.receive(request.bytes.span.bytes)
    #expect(sent.count <= 1)
    return sent.first.flatMap { try? ATTReader.read($0.span.bytes) }
  }

  /// The error code of the answer; nil if it is another answer, or none.
  func refusal(_ request: any ATTPDU) -> ATTErrorCode? {
    (ask(request) as? ATTErrorResponse)?.code
  }

  /// What the server has sent on its own, or later.
  func takeSent() -> String { unlinked.takeSent().map { Hex.string($0) }.joined(separator: " ") }

  func takeEvents() -> [ServerBearer.Event] {
    defer { events = [] }
    return events
  }

  /// The same after both ends have agreed on an MTU.
  func exchanged(_ mtu: UInt16) -> ServerDialogue {
    _ = ask(ATTExchangeMTURequest(clientMTU: mtu))
    return self
  }
}
