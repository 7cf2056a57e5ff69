import BluetoothCore
import EventLoop
import HCI
import VirtualRing

let simulateCommand = CommandSpec(
  name: "simulate", summary: "offers the virtual ring's controller to another program's host stack",
  positionals: 0...0,
  options: [
    OptionSpec("--listen", value: "WHERE", help: "tcp:HOST:PORT (port 0: any that is free) or unix:PATH"),
    OptionSpec(
      "--options", value: "LIST",
      help: "what the ring is like, as in --adapter virtual: "
        + VirtualRingOptions.optionNames.joined(separator: ", ")),
  ],
  examples: [
    (
      "halo-raw simulate --listen tcp:127.0.0.1:9105 --options rate=25,seed=7",
      "another host connects to port 9105 and speaks H4, as on a serial line"
    )
  ],
  details: "One host after the other; a new one takes the place of the one before. Ctrl-C ends it.",
  usesAdapter: false
) { invocation throws(Failure) in
  guard let place = invocation.text("--listen") else {
    throw .usage("where? Give --listen tcp:127.0.0.1:9105 or --listen unix:PATH")
  }
  let options: VirtualRingOptions
  do throws(VirtualRingOptionsError) {
    options = try VirtualRingOptions(
      parsing: invocation.text("--options").map { "virtual:\($0)" } ?? "virtual")
  } catch {
    throw .usage(error.description)
  }
  let simulation = Simulation(options)
  let listener = try listen(at: place) { simulation.attach($0) }
  let interruption = Interruption()
  Console.error(
    "listening on \(listener.port > 0 ? listener.target.withPort(listener.port) : listener.target)")
  await withCheckedContinuation { continuation in
    interruption.whenItComes { continuation.resume() }
  }
  listener.close()
  simulation.detach()
}

@BluetoothActor
private func listen(
  at place: String, accept: @escaping (HCIStreamTransport) -> Void
) throws(Failure) -> StreamListener {
  let parts = place.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  do throws(TransportError) {
    switch (parts[0], parts.count > 1 ? parts[1] : "") {
    case ("unix", let path) where !path.isEmpty: return try StreamListener(unixPath: path, accept: accept)
    case ("tcp", let address):
      guard let (host, port) = try? AdapterSpec.hostAndPort(address, in: place) else { break }
      return try StreamListener(host: host, port: port, accept: accept)
    default: break
    }
  } catch {
    throw Failure(.noAdapter, error.description)
  }
  throw .usage("\"\(place.printable)\" is no place to listen; use tcp:HOST:PORT or unix:PATH")
}

/// The virtual ring, and the host that is attached to it.
@BluetoothActor
private final class Simulation {
  private let options: VirtualRingOptions
  private var host: HCIStreamTransport?

  init(_ options: VirtualRingOptions) {
    self.options = options
  }

  /// Gives a host a controller as it is after power-on.
  func attach(_ transport: HCIStreamTransport) {
    host?.close()
    host = transport
    let controller = VirtualController(options: options, timers: EventLoop.shared.timers) {
      [weak transport] packet in transport?.send(packet)
    }
    transport.onPacket = { packet, _ in controller.receive(packet) }
    transport.onClose = { [weak self, weak transport] _ in
      if let transport, self?.host === transport { self?.host = nil }
    }
    transport.start()
  }

  func detach() {
    host?.close()
    host = nil
  }
}

extension String {
  /// A target with the port that was chosen instead of the one that was asked for.
  fileprivate func withPort(_ port: UInt16) -> String {
    guard let colon = lastIndex(of: ":") else { return self }
    return self[...colon] + String(port)
  }
}
