import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloLinuxBluetooth
import HaloRaw
import HaloSimulation

/// Where `--listen` waits for hosts, which speak H4 as on a serial line.
enum ListenAddress: Sendable {
  case tcp(host: String, port: UInt16)
  case unix(path: String)

  init?(_ text: String) {
    switch try? AdapterSpecification(text) {
    case .tcp(let host, let port): self = .tcp(host: host, port: port)
    case .unix(let path): self = .unix(path: path)
    default: return nil
    }
  }

  /// Waits for hosts, and says where.
  ///
  /// - Parameter accept: gets each host
  /// - Returns: the listener, which ends when it is closed
  @BluetoothActor
  func listen(accept: @escaping (HCIStreamTransport) -> Void) async throws(Failure) -> StreamListener {
    let accept = HCIStreamTransport.ofHosts(accept)
    let listener: StreamListener
    do throws(StackError) {
      switch self {
      case .unix(let path): listener = try StreamListener.unix(path: path, accept: accept)
      case .tcp(let host, let port):
        listener = try await StreamListener.tcp(host: host, port: port, accept: accept)
      }
    } catch {
      throw Failure(.noAdapter, error.description)
    }
    let port = listener.port
    Console.error("listening on \(port > 0 ? listener.target.withPort(port) : listener.target)")
    return listener
  }
}

extension ArgumentType where Value == ListenAddress {
  static var listenAddress: Self {
    ArgumentType(placeholder: "ADDRESS", expected: "tcp:HOST:PORT or unix:PATH") { ListenAddress($0) }
  }
}

/// Controllers in the air of a device that this program offers, for hosts that connect to a socket: one at a time, and a new
/// one replaces the previous one.
@BluetoothActor
final class OfferedControllers {
  private let medium: RadioMedium
  private var host: (any HCITransport)?
  private var controller: VirtualController?

  init(_ medium: RadioMedium) {
    self.medium = medium
  }

  /// Gives a host a controller in its power-on state.
  func attach(_ transport: any HCITransport) {
    detach()
    host = transport
    let controller = VirtualController(ControllerOptions(), in: medium) { [weak transport] packet in
      transport?.send(packet)
    }
    self.controller = controller
    medium.add(controller)
    transport.onPacket = { packet, _ in controller.receive(packet) }
    transport.onClose = { [weak self, weak transport] _ in
      if let self, let transport, host === transport { detach() }
    }
    transport.start()
  }

  /// The host is gone, and its links are lost.
  func detach() {
    if let controller = controller.take() { medium.remove(controller) }
    host.take()?.close()
  }
}

extension String {
  /// An address with the port that the kernel chose instead of port 0.
  fileprivate func withPort(_ port: UInt16) -> String {
    guard let colon = lastIndex(of: ":") else { return self }
    return self[...colon] + String(port)
  }
}
