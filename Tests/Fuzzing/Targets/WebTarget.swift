import HaloHTTP
import HaloViews

extension FuzzTarget {
  /// Requests of browsers, one of another site among them; and the day so far of a file.
  static let web = FuzzTarget("web", largestInput: 1 << 14) { bytes in
    let access = WebAccess(token: "abcdefghijkmnpqrstuvwxyz", names: ["raspberrypi"])
    let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    if parts.count == 4 {
      let path = try? access.check(path: parts[0], host: parts[1], origin: parts[2], site: nil)
      if path != nil {
        precondition(
          parts[0].hasPrefix(access.base) && parts[2].lowercased().hasSuffix(parts[1].lowercased()))
      }
      let other = "evil.example" + parts[1]
      precondition((try? access.check(path: access.base, host: other, origin: nil, site: nil)) == nil)
    }
    var reader = DayReader(epoch: 1_796_040_000, now: 1000)
    reader.beginFile()
    for line in bytes.split(separator: UInt8(ascii: "\n")) { reader.add(line) }
    for log in reader.logs.values {
      guard let first = log.first, let last = log.last else { continue }
      precondition(first <= last && last <= 1000 && last - first < DayLog.length)
      let columns = log.columns(from: first, to: last, atMost: 100)
      precondition(columns.rates.count <= 100 && columns.lows.count == columns.rates.count)
    }
  }
}
