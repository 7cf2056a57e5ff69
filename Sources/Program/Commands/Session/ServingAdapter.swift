import GAP
import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloRaw

/// The adapter of a command that serves: opened, recovered when it fails, for as long as that takes, and closed in any case.
@BluetoothActor
final class ServingAdapter {
  let adapter: any Adapter
  /// The address that other devices see.
  let address: BluetoothAddress
  /// Ends the command.
  let interruption: Interruption

  private let central: Central
  private var recovery: Task<Void, Never>?
  /// Why the adapter can't be recovered.
  private var failure: Failure?

  /// How long one recovery lasts, and the pause before the next.
  private static let recoveryTime = Duration.seconds(60)
  private static let recoveryPause = Duration.seconds(1)
  /// The time limit for closing all links and the adapter.
  private static let closeDeadline = Duration.seconds(5)

  /// Opens an adapter, runs `body`, and closes the adapter.
  ///
  /// - Parameters:
  ///   - specification: the adapter
  ///   - invocation: has the other options of adapters
  ///   - address: takes the place of the adapter's own: a random static one, for an adapter that this program drives
  ///   - opensAnother: whether `body` opens another adapter, for which privileges are kept
  ///   - interruption: ends what is tried. `body` ends by it itself.
  ///   - body: serves until the interruption
  static func run(
    _ specification: AdapterSpecification, _ invocation: Invocation, at address: BluetoothAddress? = nil,
    opensAnother: Bool = false, until interruption: Interruption,
    _ body: (ServingAdapter) async throws(Failure) -> Void
  ) async throws(Failure) {
    if invocation[CommonOptions.take] {
      guard case .user = specification else { throw .usage("--take needs --adapter user:hciN") }
    }
    let opened = try await interruption.cancels { () async throws(Failure) in
      try await SessionAdapter(specification, invocation, at: address, opensAnother: opensAnother)
    }
    let central = Central(opened.adapter)
    let isVerbose = invocation[CommonOptions.verbose]
    opened.adapter.onNote = { if isVerbose { Console.error($0) } }
    var result = Result<Void, Failure>.success(())
    do throws(Failure) {
      let information = try await interruption.cancels { () async throws(Failure) in
        try await GAPError.asFailure(await central.start())
      }
      let serving = ServingAdapter(opened.adapter, central, information.address, interruption)
      opened.tap?.onFailure = { [weak serving] error in serving?.fail(Failure(error)) }
      ServiceManager.shared.ready()
      do throws(Failure) {
        try await body(serving)
      } catch {
        result = .failure(error)
      }
      serving.recovery?.cancel()
      // It is the cause of what else has failed.
      if let failure = serving.failure { throw failure }
    } catch {
      result = .failure(error)
    }
    ServiceManager.shared.stopping()
    if !(await central.timers.within(closeDeadline, { await central.stop() })) {
      Console.error("halo-raw: the adapter did not close its links within \(Int(closeDeadline.inSeconds)) s")
    }
    opened.finishRecording()
    try result.get()
  }

  private init(
    _ adapter: any Adapter, _ central: Central, _ address: BluetoothAddress, _ interruption: Interruption
  ) {
    (self.adapter, self.central, self.address) = (adapter, central, address)
    self.interruption = interruption
    central.onFailure = { [weak self] error in self?.recover(Failure(error)) }
  }

  private func fail(_ failure: Failure) {
    if self.failure == nil { self.failure = failure }
    interruption.request()
  }

  // MARK: Recovery

  private func recover(_ loss: Failure) {
    guard recovery == nil, !interruption.isRequested else { return }
    Console.error("halo-raw: \(loss.message); waiting for it")
    recovery = BluetoothActor.run { [weak self] in
      while !Task.isCancelled, let pause = await self?.tryToRecover() { await pause() }
    }
  }

  /// - Returns: waits before the next try; nil if there is none
  private func tryToRecover() async -> (() async -> Void)? {
    do throws(GAPError) {
      let adapter = try await central.recover(within: Self.recoveryTime)
      recovery = nil
      Console.error("halo-raw: adapter \(adapter.address) is back")
    } catch {
      let reason = Failure(error)
      if reason.link.fault == .final {
        if error != .hci(.cancelled) { fail(reason) }
      } else {
        let timers = central.timers
        return { await timers.sleep(for: Self.recoveryPause) }
      }
    }
    return nil
  }
}
