import BluetoothCore
import EventLoop
import Glibc
import HCI
import VirtualRing

let simulateCommand = CommandSpec(
  name: "simulate", summary: "offers the virtual ring to other programs, as a controller or as an adapter",
  positionals: 0...0,
  options: [
    OptionSpec("--listen", value: "WHERE", help: "tcp:HOST:PORT (port 0: any that is free) or unix:PATH"),
    OptionSpec(
      "--vhci",
      help: "makes a virtual adapter of the kernel, for every Bluetooth program on this machine; as root"),
    OptionSpec(
      "--options", value: "LIST",
      help: "what the ring is like, as in --adapter virtual: "
        + VirtualRingOptions.optionNames.joined(separator: ", ")),
    .explain,
  ],
  examples: [
    (
      "halo-raw simulate --listen tcp:127.0.0.1:9105 --options rate=25,seed=7",
      "another host connects to port 9105 and speaks H4, as on a serial line"
    ),
    (
      "sudo halo-raw simulate --vhci --options bluetooth5=false",
      "the kernel has one adapter more, a Bluetooth 4.2 one, and R02_BEEF is in its reach"
    ),
  ],
  details: """
    With --listen: one host after the other; a new one takes the place of the one before.
    With --vhci: the adapter is there until the program ends. Like any new adapter it may have to be switched on:
    halo-raw adapters up hci0.
    Ctrl-C ends it.
    """,
  usesAdapter: false
) { invocation throws(Failure) in
  let options: VirtualRingOptions
  do throws(VirtualRingOptionsError) {
    options = try VirtualRingOptions(
      parsing: invocation.text("--options").map { "virtual:\($0)" } ?? "virtual")
  } catch {
    throw .usage(error.description)
  }
  let simulation = Simulation(options, try Explainer(invocation))
  let interruption = Interruption()
  switch (invocation.text("--listen"), invocation.has("--vhci")) {
  case (let place?, false):
    // A socket in the file system is to be the invoking user's; a port below 1024 is to be had first.
    if place.hasPrefix("unix:") { try Privileges.afterOpening(.other) }
    let listener = try listen(at: place) { simulation.attach($0) }
    try Privileges.afterOpening(.other)
    Console.error(
      "listening on \(listener.port > 0 ? listener.target.withPort(listener.port) : listener.target)")
    await interruption.comes()
    listener.close()
    simulation.detach()
  case (nil, true):
    var failure: Failure?
    try simulation.attachToKernel { reason in
      failure = Failure(.noAdapter, "the virtual adapter is gone: \(reason)")
      interruption.come()
    }
    await interruption.comes()
    simulation.detach()
    if let failure { throw failure }
  default:
    throw .usage("where? Give one of --listen tcp:127.0.0.1:9105, --listen unix:PATH and --vhci")
  }
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
  /// Sees what all hosts say and hear, one after the other; nil if nobody asks for it.
  private let tap: TrafficTap?
  private var host: (any HCITransport)?
  private var controller: VirtualController?

  init(_ options: VirtualRingOptions, _ explainer: Explainer?) {
    self.options = options
    tap = explainer == nil ? nil : TrafficTap()
    if let tap { explainer?.watch(tap) }
  }

  /// Gives a host a controller as it is after power-on. The ring is the one that the host before has met.
  func attach(_ transport: any HCITransport) {
    let transport = tap.map { TappedTransport(transport, $0, isController: true) } ?? transport
    host?.close()
    host = transport
    let controller = VirtualController(options: options.set(by: HostClock()), timers: EventLoop.shared.timers)
    {
      [weak transport] packet in transport?.send(packet)
    }
    if let memory = self.controller?.peripheral.ring.memory { controller.peripheral.ring.memory = memory }
    self.controller = controller
    transport.onPacket = { packet, _ in controller.receive(packet) }
    transport.onClose = { [weak self, weak transport] _ in
      if let transport, self?.host === transport { self?.host = nil }
    }
    transport.start()
  }

  /// Makes a virtual adapter whose host is the kernel. The right to do so is given up as soon as it is used.
  func attachToKernel(lost: @escaping (String) -> Void) throws(Failure) {
    let transport: VHCITransport
    do throws(SystemError) {
      transport = try VHCITransport()
    } catch {
      throw Failure(openingVHCI: error)
    }
    let name = options.name
    transport.onIndex = {
      Console.error("hci\($0) is a virtual adapter with the ring \(name.printable) in reach")
    }
    attach(transport)
    transport.onClose = lost
    try Privileges.afterOpening(.other)
  }

  func detach() {
    host?.close()
    host = nil
  }
}

extension Failure {
  /// Why the kernel makes no virtual adapter, and what helps.
  fileprivate init(openingVHCI error: SystemError) {
    let path = VHCITransport.devicePath
    switch error.errno {
    case ENOENT, ENODEV, ENXIO:
      self.init(.noAdapter, "this kernel has no \(path); load its driver: sudo modprobe hci_vhci")
    case EACCES, EPERM:
      self.init(.noPermission, "\(path) is for root only; start it with sudo, or give your user access to it")
    default: self.init(.noAdapter, "\(error)")
    }
  }
}

extension String {
  /// A target with the port that was chosen instead of the one that was asked for.
  fileprivate func withPort(_ port: UInt16) -> String {
    guard let colon = lastIndex(of: ":") else { return self }
    return self[...colon] + String(port)
  }
}
