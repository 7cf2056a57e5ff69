import BluetoothCore
import HCI

extension ConnectionRequest {
  /// What the options `--wait`, `--interval`, `--latency` and `--timeout` say; the peer is filled in later.
  init(_ invocation: Invocation) throws(Failure) {
    var parameters = ConnectionParameters.fast
    var policy = ParameterPolicy.accept
    if let text = invocation.text("--interval") {
      let (low, high) = try Self.interval(text)
      parameters.intervalMin = low
      parameters.intervalMax = high
      policy = .keep
    }
    if let latency = try invocation.integer("--latency", in: 0...499) {
      parameters.latency = UInt16(latency)
    }
    if let timeout = try invocation.duration("--timeout") {
      guard (.milliseconds(100)...Duration.seconds(32)).contains(timeout) else {
        throw .usage(
          "--timeout is the supervision timeout of the link, 100ms to 32s; to wait longer, use --wait")
      }
      parameters.supervisionTimeout = SupervisionTimeout(timeout)
    }
    guard parameters.isLegal else {
      throw .usage(
        "--timeout \(parameters.supervisionTimeout) is too short for an interval of \(parameters.intervalMax) and a latency of \(parameters.latency)"
      )
    }
    self.init(
      peer: BluetoothAddress(0, .public), parameters: parameters, parameterPolicy: policy,
      deadline: try invocation.duration("--wait") ?? .seconds(30))
  }

  /// Reads `7.5..15`, `7.5..15ms` or `15`.
  private static func interval(_ text: String) throws(Failure) -> (ConnectionInterval, ConnectionInterval) {
    let numbers = text.hasSuffix("ms") ? text.dropLast(2) : text[...]
    let ends = numbers.split(separator: "..", omittingEmptySubsequences: false).map { Double($0) }
    guard (1...2).contains(ends.count), let low = ends[0], let high = ends[ends.count - 1],
      low <= high, low >= 7.5, high <= 4000
    else {
      throw .usage("--interval wants milliseconds, 7.5 to 4000, such as 7.5..15, not \"\(text.printable)\"")
    }
    return (
      ConnectionInterval(.nanoseconds(Int64(low * 1e6))), ConnectionInterval(.nanoseconds(Int64(high * 1e6)))
    )
  }
}

/// For commands that stay connected.
let retryOption = OptionSpec(
  "--retry-for", value: "TIME",
  help: "how long to try again when the connection is lost; default 60s, 0 not at all")

extension Invocation {
  /// What `--retry-for` says.
  var retryTime: Duration {
    get throws(Failure) { try duration("--retry-for") ?? .seconds(60) }
  }
}
