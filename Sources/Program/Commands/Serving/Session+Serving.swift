import GAP
import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloRaw
import HaloSecurityManager

enum ServingOption {
  static let every = Option(
    "--every", as: .time, default: "100ms", help: "the time between two advertisements, 20ms to 10.24s")
  static let duration = Option(
    "--duration", as: .timeLimit, default: "0", help: "end after this time; 0 for no limit")
  static let retryTime = Option(
    "--retry-for", as: .timeOrForever, default: "forever",
    help: "how long to wait for an adapter that is lost: a time, 0 for not at all, or forever")
  static let idle = Option(
    "--idle", as: .timeLimit, default: "60s",
    help:
      "end the link of a device that sends nothing for this time, and has subscribed to no value; 0 for no limit"
  )
  static let allowed = Option(
    "--allow", as: .list(of: .deviceAddress), repeatable: true,
    help:
      "the only devices that may connect, by address; others are disconnected at once. A phone or watch that changes its "
      + "address (resolvable private addresses) is known again if it has paired")
  /// Which devices keep their links.
  static let admission: [any CommandOption] = [idle, allowed]
}

extension Invocation {
  /// - Throws: if no device could hear the advertisement
  func checkIsHeard() throws(Failure) {
    switch try adapter {
    case .virtual, .air:
      throw .usage(
        "nobody can hear an adapter in memory; use one such as hci0, or serve FILE --listen tcp:127.0.0.1:9105"
      )
    default: break
    }
  }
}

extension Peripheral {
  /// How many devices that were turned away are said.
  private nonisolated static let mostRefusals = 16

  private nonisolated static func seconds(_ time: Duration) -> String {
    let milliseconds = Int((time.inSeconds * 1000).rounded())
    return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
  }

  /// Keeps the devices that `--idle` and `--allow` allow, and reports the refused ones.
  ///
  /// - Parameter title: the beginning of the lines
  func admit(_ invocation: Invocation, title: String) {
    admission = LinkAdmission(
      allowed: invocation[ServingOption.allowed], idleLimit: invocation[ServingOption.idle].ifLimited)
    var refused: Set<BluetoothAddress> = []
    onRefusal = { central, refusal in
      switch refusal {
      case .idle(let limit):
        Console.error(
          "\(title): \(central) has sent nothing for \(Self.seconds(limit)) s and has not subscribed: its link is ended (--idle)"
        )
      case .notAllowed:
        guard refused.count < Self.mostRefusals, refused.insert(central).inserted else { return }
        Console.error("\(title): \(central) may not connect (--allow): it is disconnected")
      }
    }
  }
}

extension GATTLink {
  /// Reports pairings that were refused or have failed, and signed writes that are ignored: another device may pretend to be
  /// one with a bond.
  ///
  /// - Parameter title: the beginning of the lines
  func reportRefusals(title: String) {
    whenChanged { [peer] event in
      switch event {
      case .pairingRefused, .repairingRefused, .pairingFailed, .signatureRefused:
        Console.error("\(title): \(peer): \(event)")
      default: break
      }
    }
  }
}

extension SecurityHost {
  /// Lets devices pair, as phones do with what they use for long, and keep their subscriptions then.
  ///
  /// - Parameter interface: what a person sees and types; nil for nothing
  /// - Returns: what asks that person; nil if nobody is asked
  @discardableResult
  func letDevicesPair(_ interface: IOCapability? = nil) -> PersonAgent? {
    guard let interface, interface != .noInputNoOutput else {
      settings.policy = .justWorks
      return nil
    }
    let agent = PersonAgent(interface, allowsJustWorks: false) { Console.error($0) }
    self.agent = agent
    settings.policy = .ask
    return agent
  }
}

extension Session {
  /// Advertises and serves until the interruption, or for `--duration`. A lost adapter is waited for, for `--retry-for`; it
  /// advertises again then.
  ///
  /// - Parameters:
  ///   - peripheral: advertises and serves; its links end at the end
  ///   - advertising: its advertisement
  func serve(_ peripheral: Peripheral, _ advertising: Advertising, _ invocation: Invocation) async throws {
    waitsForAdapter = true
    peripheral.admit(invocation, title: "halo-raw")
    peripheral.status.onChange = { [central] error in
      let address = central.information?.place ?? "this adapter"
      Console.error(
        error.map { "halo-raw: \($0); it is tried again" } ?? "advertising at \(address); Ctrl-C ends it")
    }
    try peripheral.startAdvertising(advertising)
    let timeIsUp = invocation[ServingOption.duration].ifLimited.map { limit in
      timers.schedule(after: limit) { [interruption] in interruption.request() }
    }
    let result = await outcome {
      while !interruption.isRequested {
        await interruption.cancels { () async in await self.untilAdapterIsLost() }
        guard !interruption.isRequested else { break }
        try await interruption.ends {
          try await self.recoverAdapter(within: invocation[ServingOption.retryTime])
        }
      }
    }
    timers.cancel(timeIsUp)
    await peripheral.stop()
    try result.get()
  }
}

/// The adapter of a command that serves: opened, recovered when it fails, for as long as that takes, and closed in any case.
@BluetoothActor
final class ServingAdapter {
  let adapter: any Adapter
  private let information: AdapterInformation
  /// The address that stays.
  var address: BluetoothAddress { information.address }
  /// Where other devices hear it.
  var place: String { information.place }
  /// Ends the command.
  let interruption: Interruption

  /// Why the adapter can't be recovered.
  private var failure: Failure?

  /// Opens an adapter, runs `body`, and closes the adapter.
  ///
  /// - Parameters:
  ///   - specification: the adapter
  ///   - invocation: has the other options of adapters
  ///   - address: takes the place of the adapter's own: a random static one, for an adapter that this program drives
  ///   - hides: whether the adapter uses private addresses
  ///   - opensAnother: whether `body` opens another adapter, for which privileges are kept
  ///   - interruption: ends attempts. `body` ends by it on its own.
  ///   - body: serves until the interruption
  static func run(
    _ specification: AdapterSpecification, _ invocation: Invocation, at address: BluetoothAddress? = nil,
    hides: Bool = false, opensAnother: Bool = false, until interruption: Interruption,
    _ body: (ServingAdapter) async throws -> Void
  ) async throws(Failure) {
    if invocation[CommonOptions.take] {
      guard case .user = specification else { throw .usage("--take needs --adapter user:hciN") }
    }
    let opened = try await interruption.cancels { () async throws(Failure) in
      try await SessionAdapter(
        specification, invocation, at: address, hides: hides, opensAnother: opensAnother)
    }
    opened.security.letDevicesPair()
    let isVerbose = invocation[CommonOptions.verbose]
    opened.adapter.onNote = { if isVerbose { Console.error($0) } }
    let result = await outcome {
      let information = try await interruption.cancels { try await opened.start() }
      let serving = ServingAdapter(opened, information, interruption)
      ServiceManager.shared.ready()
      let served = await outcome { try await body(serving) }
      // It is the cause of the other failures.
      if let failure = serving.failure { throw failure }
      try served.get()
    }
    ServiceManager.shared.stopping()
    await opened.close()
    try result.get()
  }

  private init(_ opened: SessionAdapter, _ information: AdapterInformation, _ interruption: Interruption) {
    (adapter, self.information, self.interruption) = (opened.adapter, information, interruption)
    opened.tap?.onFailure = { [weak self] error in self?.fail(Failure(error)) }
    opened.managed.onFailure = { [weak self, weak opened] error in
      if let error { self?.lost(error) } else { self?.isBack(opened?.central.information?.address) }
    }
    opened.managed.policy.isNeededWhileIdle = true
  }

  private func fail(_ failure: Failure) {
    if self.failure == nil { self.failure = failure }
    interruption.request()
  }

  private func lost(_ error: StackError) {
    guard !interruption.isRequested else { return }
    let loss = Failure(error)
    if loss.link.fault == .final {
      fail(loss)
    } else {
      Console.error("halo-raw: \(loss.message); waiting for it")
    }
  }

  private func isBack(_ address: BluetoothAddress?) {
    Console.error("halo-raw: adapter \(address ?? self.address) is back")
  }
}
