import HCI
import HaloBluetoothCore
import HaloSystem

extension HCIStreamTransport {
  /// Connects to a controller over TCP: see ``StreamSocket/tcp(host:port:deadline:)``.
  package static func tcp(
    host: String, port: UInt16, deadline: Duration = .seconds(10)
  ) async throws(StackError) -> HCIStreamTransport {
    let opener: Opener = { time throws(StackError) in
      try await StreamSocket.tcp(host: host, port: port, deadline: time)
    }
    return HCIStreamTransport("tcp:\(host):\(port)", try await opener(deadline), opener: opener)
  }

  /// Connects to a controller over a Unix domain socket: see ``StreamSocket/unix(path:deadline:)``.
  package static func unix(
    path: String, deadline: Duration = .seconds(10)
  ) async throws(StackError) -> HCIStreamTransport {
    let opener: Opener = { time throws(StackError) in
      try await StreamSocket.unix(path: path, deadline: time)
    }
    return HCIStreamTransport("unix:\(path)", try await opener(deadline), opener: opener)
  }

  /// The handler of a ``StreamListener`` that offers a controller to hosts.
  ///
  /// - Parameter accept: called with the transport to each host, which has not been started
  package static func ofHosts(
    timers: Timers = EpollLoop.shared.timers, _ accept: @escaping (HCIStreamTransport) -> Void
  ) -> (Int32) -> Void {
    { accept(HCIStreamTransport(descriptor: $0, accepting: H4Framer.fromHost, timers: timers)) }
  }
}
