import HaloBluetoothCore
import HaloCommandLine
import HaloHTTP
import HaloReportAssets
import HaloViews

/// The answers to browsers.
extension LiveServer {
  private static let dayMarks = 200
  private static let mostColumns = 4000
  private static let usualColumns = 1440

  func answer(_ request: HTTPRequest) -> HTTPResponse {
    let nonce = String(UInt64.random(in: 0 ... .max), radix: 36)
    var response: HTTPResponse
    do throws(WebAccess.Refusal) {
      let path = try access.check(
        path: request.path, host: request.header("Host"), origin: request.header("Origin"),
        site: request.header("Sec-Fetch-Site"), mode: request.header("Sec-Fetch-Mode"))
      response = answer(request, path, nonce)
    } catch {
      response = HTTPResponse(error.status, error.text)
      if error == .slash { response.headers.append(("Location", access.base)) }
    }
    response.headers += [
      ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
      ("Referrer-Policy", "no-referrer"),
      ("Cross-Origin-Resource-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
      ("Content-Security-Policy", Self.policy(nonce: nonce)),
    ]
    return response
  }

  private func answer(_ request: HTTPRequest, _ path: String, _ nonce: String) -> HTTPResponse {
    let isReading = request.method == "GET" || request.method == "HEAD"
    switch (path, isReading) {
    case ("", true):
      return HTTPResponse(type: "text/html; charset=utf-8", Array(PageAssets.livePage(nonce: nonce).utf8))
    case ("manifest.webmanifest", true):
      return HTTPResponse(type: "application/manifest+json", Array(PageAssets.liveManifest.utf8))
    case ("icon.svg", true): return HTTPResponse(type: "image/svg+xml", Array(PageAssets.liveIcon.utf8))
    case ("icon.png", true): return HTTPResponse(type: "image/png", PageAssets.liveIconPNG)
    case ("events", true): return request.method == "GET" ? events() : HTTPResponse(405, "GET it.")
    case ("day", true): return day(request)
    case ("mark", false): return mark(request)
    case ("mark", true): return HTTPResponse(405, "POST the text of a mark.")
    default: return HTTPResponse(404, "There is no such page.")
    }
  }

  private func events() -> HTTPResponse {
    guard let viewer = addViewer() else {
      return HTTPResponse(503, "\(Self.mostViewers) viewers watch already; close one of their pages.")
    }
    return HTTPResponse(viewer)
  }

  private func day(_ request: HTTPRequest) -> HTTPResponse {
    func number(_ name: String) -> Double? {
      request.argument(name).flatMap { Double($0) }.flatMap { $0.magnitude < 1e9 ? $0 : nil }
    }
    let end = Int(now.rounded(.up))
    let start = feeds.compactMap { $0.day.first }.min() ?? 0
    let to = Int(number("to") ?? Double(end))
    let from = max(Int(number("from") ?? Double(start)), to - DayLog.length)
    guard from <= to else { return HTTPResponse(400, "from is later than to.") }
    let columns = max(1, min(Int(number("columns") ?? Double(Self.usualColumns)), Self.mostColumns))
    var text = EventText()
    text.add("now", now, places: 3)
    text.add("from", from)
    text.add("to", to)
    text.add("step", max(1, (to - from) / columns + 1))
    text.add("reading", earlier?.isReading ?? false)
    text.add("rings", feeds) { text, feed in
      let found = feed.day.columns(from: from, to: to, atMost: columns)
      text.add { text in
        text.add("ring", feed.index)
        text.add("bpm", found.rates) { $0.write($1, places: 1) }
        text.add("quality", found.qualities) { $0.write($1, places: 2) }
        text.add("low", found.lows) { $0.write($1.map { Double($0) }, places: 0) }
        text.add("high", found.highs) { $0.write($1.map { Double($0) }, places: 0) }
        text.add("motion", found.movements) { $0.write($1, places: 3) }
      }
    }
    let shown = marks.filter { $0.time >= Double(from) && $0.time <= Double(to) }.suffix(Self.dayMarks)
    text.add("marks", shown) { text, mark in text.add { mark.write(into: &$0) } }
    return HTTPResponse(type: "application/json", text.finished())
  }

  private func mark(_ request: HTTPRequest) -> HTTPResponse {
    guard request.method == "POST" else { return HTTPResponse(405, "POST the text of a mark.") }
    guard let text = String(validating: request.body, as: UTF8.self) else {
      return HTTPResponse(400, "The text of a mark is not UTF-8.")
    }
    if let fault = Annotations.fault(of: text) { return HTTPResponse(400, fault) }
    guard mayMark() else { return HTTPResponse(429, "There are too many marks; wait a second.") }
    guard !session.annotations.add(text, to: nil, at: session.timers.current.wholeMicroseconds).isEmpty else {
      return HTTPResponse(409, "No ring streams yet.")
    }
    return HTTPResponse(status: 204, type: "text/plain", [])
  }

  /// The policy of the page (Content Security Policy Level 3): it loads nothing from elsewhere, and runs nothing else.
  private static func policy(nonce: String) -> String {
    "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; img-src 'self' data:; "
      + "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
  }
}

extension WebAccess.Refusal {
  fileprivate var status: UInt32 {
    switch self {
    case .host: 421
    case .origin: 403
    case .token: 404
    case .slash: 308
    }
  }

  fileprivate var text: String {
    switch self {
    case .host:
      "This page is at another name: open it by the address of this machine in numbers, by its host name, or as localhost."
    case .origin: "Another page may not use this one."
    case .slash: "The link to this page ends with a slash."
    case .token: "There is no such page: the link that halo-raw prints has a secret in it."
    }
  }
}
