import GAP
import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloEventLoop

enum ServingOption {
  static let every = Option(
    "--every", as: .time, default: "100ms", help: "the time between two advertisements, 20ms to 10.24s")
  static let duration = Option(
    "--duration", as: .timeLimit, default: "0", help: "end after this time; 0 for no limit")
  static let retryTime = Option(
    "--retry-for", as: .timeOrForever, default: "forever",
    help: "how long to wait for an adapter that is lost: a time, 0 for not at all, or forever")
}

extension Session {
  /// Advertises and serves until the interruption, or for `--duration`. A lost adapter is waited for, for `--retry-for`; it
  /// advertises again then.
  ///
  /// - Parameters:
  ///   - peripheral: advertises and serves; its links end at the end
  ///   - advertising: what it advertises
  func serve(
    _ peripheral: Peripheral, _ advertising: Advertising, _ invocation: Invocation
  ) async throws(Failure) {
    waitsForAdapter = true
    peripheral.status.onChange = { [central] error in
      let address = central.information?.address.description ?? "this adapter"
      Console.error(
        error.map { "halo-raw: \($0); it is tried again" } ?? "advertising at \(address); Ctrl-C ends it")
    }
    do throws(GAPError) {
      try peripheral.startAdvertising(advertising)
    } catch {
      throw Failure(error)
    }
    let timeIsUp = invocation[ServingOption.duration].ifLimited.map { limit in
      timers.schedule(after: limit) { [interruption] in interruption.request() }
    }
    var result = Result<Void, Failure>.success(())
    while !interruption.isRequested, case .success = result {
      await interruption.cancels { () async in await self.untilAdapterIsLost() }
      guard !interruption.isRequested else { break }
      do throws(Failure) {
        try await interruption.ends { () async throws(Failure) in
          try await self.recoverAdapter(within: invocation[ServingOption.retryTime])
        }
      } catch {
        result = .failure(error)
      }
    }
    timers.cancel(timeIsUp)
    await peripheral.stop()
    try result.get()
  }
}
