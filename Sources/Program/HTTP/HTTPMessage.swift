import HaloBluetoothCore

/// A request, while it is handled.
@BluetoothActor
package struct HTTPRequest {
  package let method: String
  /// With its escapes resolved, without the arguments.
  package let path: String
  /// At most ``HTTPServer/largestBody`` bytes.
  package let body: [UInt8]
  private let connection: OpaquePointer?
  private let library: MicroHTTPD

  init(_ method: String, _ path: String, body: [UInt8], _ connection: OpaquePointer?, _ library: MicroHTTPD) {
    (self.method, self.path, self.body) = (method, path, body)
    (self.connection, self.library) = (connection, library)
  }

  /// The value of a header; nil if there is none.
  package func header(_ name: String) -> String? { value(MicroHTTPD.headerKind, name) }

  /// The value of an argument behind `?`; nil if there is none.
  package func argument(_ name: String) -> String? { value(MicroHTTPD.argumentKind, name) }

  private func value(_ kind: UInt32, _ name: String) -> String? {
    library.value(connection, kind, name).map { String(cString: $0) }
  }
}

/// An answer.
package struct HTTPResponse {
  package enum Body {
    case bytes([UInt8])
    /// Messages that are sent as they come.
    case events(EventStream)
  }

  package var status: UInt32
  package var headers: [(name: String, value: String)]
  package var body: Body

  package init(status: UInt32 = 200, type: String, _ body: [UInt8], headers: [(String, String)] = []) {
    self.status = status
    self.headers = [("Content-Type", type)] + headers
    self.body = .bytes(body)
  }

  /// A sentence.
  package init(_ status: UInt32, _ text: String) {
    self.init(status: status, type: "text/plain; charset=utf-8", Array((text + "\n").utf8))
  }

  /// Server-sent events (HTML Standard, 9.2).
  package init(_ events: EventStream) {
    // A proxy that collects an answer before it passes it on would delay it without end.
    self.init(type: "text/event-stream", [], headers: [("X-Accel-Buffering", "no")])
    body = .events(events)
  }
}
