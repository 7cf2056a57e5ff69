import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

func service(_ start: UInt16, _ end: UInt16) -> Service {
  Service(uuid: uuid("180a"), handles: range(start, end))
}

/// A line of a dialogue: the request that must come, and what the server answers.
struct Exchange: Sendable {
  var request: [UInt8]
  var response: [UInt8]

  init(_ request: String, _ response: String) {
    self.request = hex(request)
    self.response = hex(response)
  }
}

/// How a procedure ended. It is compared as text, as outputs are not always equatable (`Void`, tuples).
enum Ending<Output: Sendable> {
  case done(Output)
  case failed(StackError)

  var output: Output? {
    if case .done(let output) = self { output } else { nil }
  }
  var error: StackError? {
    if case .failed(let error) = self { error } else { nil }
  }
  var isMisbehaviour: Bool {
    error?.code == .misbehaved
  }
}

/// Runs a procedure on a bearer against a server that says what is written here, line by line.
///
/// - Returns: how it ended; nil if it still waits after the last line
func run<Procedure: GATTProcedure>(
  _ procedure: Procedure, _ exchanges: [Exchange], mtu: Int = 23,
  sourceLocation: SourceLocation = #_sourceLocation
) -> Ending<Procedure.Output>? {
  let server = ScriptedServer(exchanges, mtu: mtu)
  var ending: Ending<Procedure.Output>?
  let queue = ProcedureQueue(server.bearer)
  queue.run {
    procedure
  } completion: { result in
    #expect(ending == nil, "ended twice", sourceLocation: sourceLocation)
    switch result {
    case .success(let output): ending = .done(output)
    case .failure(let error): ending = .failed(error)
    }
  }
  server.play(sourceLocation)
  return ending
}

/// Answers the requests of a bearer from a list.
final class ScriptedServer {
  let bearer: ATTBearer
  private let exchanges: [Exchange]
  private let out = Outbox()

  private final class Outbox {
    var requests: [[UInt8]] = []
  }

  init(_ exchanges: [Exchange], mtu: Int) {
    self.exchanges = exchanges
    let out = self.out
    bearer = ATTBearer(timers: Timers()) { out.requests.append(Array($0)) }
    guard mtu != ATTBearer.defaultMTU else { return }
    bearer.exchangeMTU { _ in }
    out.requests = []
    let response = ATTExchangeMTUResponse(serverMTU: UInt16(mtu)).bytes
    bearer.receive(response.span.bytes, at: Arrival(.zero))
  }

  func play(_ sourceLocation: SourceLocation) {
    for (line, exchange) in exchanges.enumerated() {
      guard !out.requests.isEmpty else {
        Issue.record("line \(line): nothing was asked any more", sourceLocation: sourceLocation)
        return
      }
      let request = out.requests.removeFirst()
      #expect(
        Hex.string(request) == Hex.string(exchange.request), "line \(line)", sourceLocation: sourceLocation)
      bearer.receive(exchange.response.span.bytes, at: Arrival(.zero))
    }
    let more = out.requests.map { Hex.string($0) }
    #expect(more == [], "asked behind the end", sourceLocation: sourceLocation)
  }
}
