import Glibc
import HCI
import HaloBluetoothCore
import HaloViews
import HaloCommandLine
import HaloSystem
import HaloLinuxBluetooth
import HaloRecording
import HaloSimulation

private enum SimulateOption {
  static let listen = Option(
    "--listen", as: .listenAddress, help: "tcp:HOST:PORT (port 0: any free one) or unix:PATH")
  static let vhci = Flag(
    "--vhci",
    help: "create a virtual adapter of the kernel, for every Bluetooth program on this machine; needs root")
  static let adapter = Option(
    "-i", "--adapter", as: .adapter,
    help:
      "the radio on which the ring advertises, for a phone or any other central: hciN, user:hciN, tcp:HOST:PORT, "
      + "unix:PATH or serial:PATH[@BAUD]")
  static let address = Option(
    "--address",
    as: ArgumentType(placeholder: "ADDRESS", expected: "an address such as C0:11:22:33:BE:EF") {
      BluetoothAddress($0)
    },
    help: "the address of the ring, a random static one (default: that of the adapter); not with hciN")
  static let options = Option(
    "--options",
    as: ArgumentType(placeholder: "LIST", expected: "options of the virtual ring") {
      try VirtualRingOptions(parsing: "virtual:\($0)")
    },
    help: "the properties of the ring, as in --adapter virtual: "
      + VirtualRingOptions.optionNames.joined(separator: ", "))
}

let simulateCommand = CommandSpec(
  name: "simulate",
  summary:
    "offer the virtual ring to other devices on a radio, or to other programs as a controller or an adapter",
  options: [
    SimulateOption.adapter, SimulateOption.address, SimulateOption.listen, SimulateOption.vhci,
    SimulateOption.options, CommonOptions.take, CommonOptions.record, CommonOptions.replace,
    CommonOptions.explain, CommonOptions.verbose,
  ],
  rules: [
    .one([SimulateOption.listen, SimulateOption.vhci, SimulateOption.adapter]),
    .needs(SimulateOption.address, SimulateOption.adapter),
    .needs(CommonOptions.take, SimulateOption.adapter),
    .needs(CommonOptions.record, SimulateOption.adapter),
  ],
  examples: [
    (
      "sudo halo-raw simulate --adapter hci0 --options rate=25",
      "a phone finds a ring, which is this machine"
    ),
    (
      "halo-raw simulate --listen tcp:127.0.0.1:9105 --options rate=25,seed=7",
      "a host connects to port 9105 and speaks H4, as on a serial line"
    ),
    (
      "sudo halo-raw simulate --vhci --options bluetooth5=false",
      "the kernel gets a Bluetooth 4.2 adapter with R02_BEEF in range"
    ),
  ],
  details: """
    With --adapter, the ring is on the air: the app of a phone meets it, or another program of any machine near by. It has
    the address of the adapter, and its name ends with the last four digits of that, as those of rings do. It advertises
    while nobody is connected. With hciN, the program needs CAP_NET_ADMIN, and the kernel answers for the link.

    Phones keep what they know of a ring: Android by its address, iOS until Bluetooth is switched off and on. An app that
    has met another ring at this address needs that, or another --address.

    With --listen, one host is connected at a time; a new one replaces the previous one.

    With --vhci, the adapter exists until the program ends. Like any new adapter, it may be down: halo-raw adapters up
    hci0.

    Ctrl-C ends it.
    """,
  usesAdapter: false
) { invocation in
  let options = invocation[SimulateOption.options] ?? VirtualRingOptions()
  if let adapter = invocation[SimulateOption.adapter] {
    return try await simulate(options, on: adapter, at: invocation[SimulateOption.address], invocation)
  }
  let simulation = Simulation(
    options, Explainer(invocation[CommonOptions.explain], invocation[CommonOptions.color] ?? .auto))
  let interruption = Interruption()
  guard let address = invocation[SimulateOption.listen] else {
    var failure: Failure?
    try simulation.attachToKernel { reason in
      failure = Failure(.noAdapter, "lost the virtual adapter: \(reason)")
      interruption.request()
    }
    await interruption.wait()
    simulation.detach()
    if let failure { throw failure }
    return
  }
  // A socket in the file system belongs to the invoking user; a port below 1024 needs root.
  if case .unix = address { try Privileges.afterOpening(.other) }
  let listener = try await address.listen { simulation.attach($0) }
  try Privileges.afterOpening(.other)
  await interruption.wait()
  listener.close()
  simulation.detach()
}

/// The virtual rings and the attached host.
@BluetoothActor
private final class Simulation {
  private let options: VirtualRingOptions
  /// The traffic of all hosts, one after the other; nil without `--explain`.
  private let tap: TrafficTap?
  private var host: (any HCITransport)?
  private var radio: RingRadio?

  init(_ options: VirtualRingOptions, _ explainer: Explainer?) {
    self.options = options
    tap = explainer == nil ? nil : TrafficTap(timers: EpollLoop.shared.timers)
    if let tap { explainer?.watch(tap) }
  }

  /// Gives a host a controller in its power-on state. The rings keep their memory from the previous host.
  func attach(_ transport: any HCITransport) {
    let transport = tap.map { TappedTransport(transport, $0, isController: true) } ?? transport
    host?.close()
    host = transport
    let radio = RingRadio(options: options.set(by: HostClock()), timers: transport.timers) {
      [weak transport] packet in transport?.send(packet)
    }
    for (ring, last) in zip(radio.peripherals, self.radio?.peripherals ?? []) {
      ring.ring.memory = last.ring.memory
    }
    self.radio = radio
    transport.onPacket = { packet, _ in radio.receive(packet) }
    transport.onClose = { [weak self, weak transport] _ in
      if let transport, self?.host === transport { self?.host = nil }
    }
    transport.start()
  }

  /// Creates a virtual adapter whose host is the kernel, then drops the privilege that this needs.
  func attachToKernel(lost: @escaping (String) -> Void) throws(Failure) {
    let transport: VHCITransport
    do throws(SystemError) {
      transport = try VHCITransport()
    } catch {
      throw Failure(openingVHCI: error)
    }
    let names = ([options] + options.others).map(\.name.printable)
    let rings = (names.count == 1 ? "the ring " : "the rings ") + names.joined(separator: ", ")
    transport.onIndex = { Console.error("hci\($0) is a virtual adapter with \(rings) in range") }
    attach(transport)
    transport.onClose = lost
    try Privileges.afterOpening(.other)
  }

  func detach() {
    host.take()?.close()
  }
}

extension Failure {
  /// Why the kernel creates no virtual adapter, and the fix.
  fileprivate init(openingVHCI error: SystemError) {
    let path = VHCITransport.devicePath
    switch error.errno {
    case ENOENT, ENODEV, ENXIO:
      self.init(.noAdapter, "found no \(path); load its driver: sudo modprobe hci_vhci")
    case EACCES, EPERM:
      self.init(.noPermission, "cannot open \(path) without root; use sudo, or give your user access to it")
    default: self.init(.noAdapter, "\(error)")
    }
  }
}
