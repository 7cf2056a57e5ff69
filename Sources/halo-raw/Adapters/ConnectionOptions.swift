import BluetoothCore
import HCI

extension ConnectionRequest {
  /// What `--wait`, `--interval`, `--latency` and `--timeout` ask for. The peer is set later.
  init(_ invocation: Invocation) throws(Failure) {
    var parameters = ConnectionParameters.fast
    let interval = invocation[CommonOptions.interval]
    parameters.intervalMin = interval.lowerBound
    parameters.intervalMax = interval.upperBound
    parameters.latency = UInt16(invocation[CommonOptions.latency])
    parameters.supervisionTimeout = invocation[CommonOptions.timeout]
    guard parameters.isLegal else {
      throw .usage(
        "--timeout \(parameters.supervisionTimeout) is too short for an interval of \(parameters.intervalMax) "
          + "and a latency of \(parameters.latency); give a longer one")
    }
    self.init(
      peer: BluetoothAddress(0, .public), parameters: parameters,
      parameterPolicy: invocation.isGiven(CommonOptions.interval) ? .keep : .accept,
      deadline: invocation[CommonOptions.wait])
  }
}

extension ArgumentType where Value == ClosedRange<ConnectionInterval> {
  /// `7.5..15`, `7.5..15ms` or `15`.
  static var connectionInterval: Self {
    ArgumentType(placeholder: "MIN..MAX", expected: "milliseconds, 7.5 to 4000, such as 7.5..15") { text in
      let numbers = text.hasSuffix("ms") ? text.dropLast(2) : text[...]
      let ends = numbers.split(separator: "..", omittingEmptySubsequences: false).map { Double($0) }
      guard (1...2).contains(ends.count), let low = ends[0], let high = ends[ends.count - 1],
        low <= high, low >= 7.5, high <= 4000
      else { return nil }
      return ConnectionInterval(
        .nanoseconds(Int64(low * 1e6)))...ConnectionInterval(.nanoseconds(Int64(high * 1e6)))
    }
  }
}

extension ArgumentType where Value == SupervisionTimeout {
  static var supervisionTimeout: Self {
    ArgumentType(placeholder: "TIME", expected: "a time such as 4s") { text throws(Failure) in
      guard let time = try ArgumentType<Duration>.time.parse(text) else { return nil }
      guard (.milliseconds(100)...Duration.seconds(32)).contains(time) else {
        throw .usage(
          "--timeout is the supervision timeout of the link, 100ms to 32s; to wait longer, use --wait")
      }
      return SupervisionTimeout(time)
    }
  }
}
