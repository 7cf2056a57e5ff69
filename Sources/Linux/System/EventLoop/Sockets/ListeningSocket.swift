import Glibc
import HaloBluetoothCore

/// A listening socket, which hands on the descriptor of each connection.
@BluetoothActor
package final class ListeningSocket {
  package let descriptor: Int32
  private let timers: Timers
  private let accept: (Int32) -> Void
  private var watch: EpollLoop.Watch?
  private var retry: Timers.Token?
  private var isOpen = true

  /// How long no connection is accepted after the process has run out of descriptors.
  private static let pauseTime = Duration.milliseconds(200)

  /// - Parameters:
  ///   - family: of the socket
  ///   - type: of the socket
  ///   - protocolNumber: of the socket
  ///   - backlog: how many connections may wait
  ///   - timers: the clock of the pause
  ///   - bind: gives the socket its address, with the result of bind(2); repeated when a signal interrupts it
  ///   - accept: called with each connection, which does not block; it is closed there
  package init(
    _ family: Int32, _ type: __socket_type, _ protocolNumber: Int32, backlog: Int32, timers: Timers,
    bind: (Int32) -> Int32, accept: @escaping (Int32) -> Void
  ) throws(SystemError) {
    let listener = try retryingInterrupts("socket") { SystemCall.socket(family, type, protocolNumber) }
    descriptor = listener
    self.timers = timers
    self.accept = accept
    do throws(SystemError) {
      try retryingInterrupts("bind") { bind(listener) }
      try retryingInterrupts("listen") { SystemCall.listen(listener, backlog) }
      try start()
    } catch {
      close()
      throw error
    }
  }

  isolated deinit {
    close()
  }

  private func start() throws(SystemError) {
    watch = try EpollLoop.shared.watch(descriptor, for: .readable) { [weak self] _ in self?.acceptOne() }
  }

  private func acceptOne() {
    let listener = descriptor
    let connection = SystemCall.perform(.accept, on: listener) { Linux.accept(listener) }
    guard connection >= 0 else {
      if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause() }
      return
    }
    accept(connection)
  }

  /// The pending connection keeps the socket readable: without a pause the loop would spin.
  private func pause() {
    watch.take()?.cancel()
    retry = timers.schedule(after: Self.pauseTime) { [weak self] in
      guard let self else { return }
      retry = nil
      do throws(SystemError) { try start() } catch { pause() }
    }
  }

  /// Listens no longer.
  package func close() {
    guard isOpen else { return }
    isOpen = false
    watch.take()?.cancel()
    timers.cancel(retry)
    Glibc.close(descriptor)
  }
}
