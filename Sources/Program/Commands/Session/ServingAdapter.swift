import GAP
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

  /// Why the adapter can't be recovered.
  private var failure: Failure?

  /// Opens an adapter, runs `body`, and closes the adapter.
  ///
  /// - Parameters:
  ///   - specification: the adapter
  ///   - invocation: has the other options of adapters
  ///   - address: takes the place of the adapter's own: a random static one, for an adapter that this program drives
  ///   - opensAnother: whether `body` opens another adapter, for which privileges are kept
  ///   - interruption: ends attempts. `body` ends by it on its own.
  ///   - body: serves until the interruption
  static func run(
    _ specification: AdapterSpecification, _ invocation: Invocation, at address: BluetoothAddress? = nil,
    opensAnother: Bool = false, until interruption: Interruption,
    _ body: (ServingAdapter) async throws -> Void
  ) async throws(Failure) {
    if invocation[CommonOptions.take] {
      guard case .user = specification else { throw .usage("--take needs --adapter user:hciN") }
    }
    let opened = try await interruption.cancels { () async throws(Failure) in
      try await SessionAdapter(specification, invocation, at: address, opensAnother: opensAnother)
    }
    let isVerbose = invocation[CommonOptions.verbose]
    opened.adapter.onNote = { if isVerbose { Console.error($0) } }
    let result = await outcome {
      let information = try await interruption.cancels { try await opened.start() }
      let serving = ServingAdapter(opened, information.address, interruption)
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

  private init(_ opened: SessionAdapter, _ address: BluetoothAddress, _ interruption: Interruption) {
    (adapter, self.address, self.interruption) = (opened.adapter, address, interruption)
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
