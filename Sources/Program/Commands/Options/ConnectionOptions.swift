import ATT
import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloLinuxBluetooth
import HaloRaw

extension ConnectionRequest {
  /// The request of the options of links; the usual one for a command without links. The peer is set later.
  init(_ invocation: Invocation) throws(Failure) {
    var parameters = ConnectionParameters.fast
    guard invocation.command.opensLinks else {
      self.init(peer: BluetoothAddress(0, .public), parameters: parameters)
      return
    }
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
    preferences = LinkPreferences(invocation)
    // A recorded link has the encryption that it had.
    if case .replay = try invocation.adapter {
    } else if invocation[CommonOptions.bond] {
      firstEncryption = .always
    }
    switch invocation[CommonOptions.mtu] {
    case .automatic: break
    case .none: leftOut = [.exchangeMTU]
    case .exactly(let length): mtu = length
    }
  }

  /// Refuses options that the kernel does not let programs choose.
  func check(for adapter: AdapterSpecification) throws(Failure) {
    guard case .kernel = adapter, let preferences else { return }
    guard preferences.dataLength == nil else {
      throw .usage("--data-length: the kernel sets the data length of its links; use --adapter user:hciN")
    }
    guard preferences.phys == nil || L2CAPSocket.offersPHYs else {
      throw .usage("--phy: this kernel does not let programs choose the PHY; use --adapter user:hciN")
    }
  }
}

extension ScanParameters {
  /// The parameters of `--aggressive` and `--phy`.
  init(_ invocation: Invocation) {
    self = .gentle
    guard invocation.declares(CommonOptions.aggressive) else { return }
    if invocation[CommonOptions.aggressive] { self = .aggressive }
    includesCoded = invocation[CommonOptions.phy].value(nil)?.contains(.leCoded) == true
  }
}

extension LinkPreferences {
  /// The preferences of `--phy` and `--data-length`; nil if neither is given.
  fileprivate init?(_ invocation: Invocation) {
    guard invocation.isGiven(CommonOptions.phy) || invocation.isGiven(CommonOptions.dataLength) else {
      return nil
    }
    var automatic = LinkPreferences.standard
    if case .kernel? = try? invocation.adapter { automatic = LinkPreferences() }
    self.init(
      phys: invocation[CommonOptions.phy].value(automatic.phys),
      dataLength: invocation[CommonOptions.dataLength].value(automatic.dataLength))
  }
}

/// A preference for links.
enum LinkPreference<Value: Sendable>: Sendable {
  /// The adapter's choice.
  case automatic
  /// Nothing is requested.
  case none
  case exactly(Value)

  fileprivate func value(_ automatic: Value?) -> Value? {
    switch self {
    case .automatic: automatic
    case .none: nil
    case .exactly(let value): value
    }
  }
}

extension ArgumentType where Value == LinkPreference<Int> {
  static var dataLength: Self { bytes(27...251) }
  static var mtu: Self { bytes(ATTBearer.defaultMTU...ATTBearer.largestMTU) }

  private static func bytes(_ range: ClosedRange<Int>) -> Self {
    ArgumentType(
      placeholder: "BYTES",
      expected: "a number of bytes, \(range.lowerBound) to \(range.upperBound), auto or none"
    ) { text in
      switch text {
      case "auto": .automatic
      case "none": LinkPreference<Int>.none
      default: Int(text).flatMap { range.contains($0) ? .exactly($0) : nil }
      }
    }
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
    ArgumentType(placeholder: "TIME", expected: "a time such as 4s") { text in
      guard let time = try ArgumentType<Duration>.time.parse(text) else { return nil }
      guard (.milliseconds(100)...Duration.seconds(32)).contains(time) else {
        throw Failure.usage(
          "--timeout is the supervision timeout of the link, 100ms to 32s; to wait longer, use --wait")
      }
      return SupervisionTimeout(time)
    }
  }
}
