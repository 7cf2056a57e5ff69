import GAP
import HaloBluetoothCore
import HaloCommandLine
import HaloRaw
import HaloSimulation

/// The virtual ring on an adapter, until Ctrl-C: `simulate --adapter`.
///
/// - Parameters:
///   - options: the ring
///   - specification: the adapter
///   - address: that of the ring; nil for the adapter's own
@BluetoothActor
func simulate(
  _ options: VirtualRingOptions, on specification: AdapterSpecification, at address: BluetoothAddress?,
  _ invocation: Invocation
) async throws(Failure) {
  guard specification.isReal else {
    throw .usage("simulate --adapter needs a radio: hci0, user:hci0, tcp:HOST:PORT, unix:PATH or serial:PATH")
  }
  guard !options.needRadioInMemory else {
    throw .usage(
      "the ring on an adapter is one ring on a radio that exists; leave out "
        + VirtualRingOptions.optionsOfMemory.joined(separator: ", "))
  }
  if let address {
    if case .kernel = specification {
      throw .usage("--address needs an adapter that this program drives, such as user:hci0")
    }
    guard address.kind == .random, address.value >> 46 == 3 else {
      throw .usage(
        "--address wants a random static address, which begins with a digit from C to F: C0:11:22:33:BE:EF")
    }
  }
  let interruption = Interruption()
  try await ServingAdapter.run(specification, invocation, at: address, until: interruption) {
    served in
    let options = options.set(by: HostClock())
    let ring = RingOnAdapter(options, on: served.adapter, at: served.address)
    let name = ring.options.name.printable
    ring.onEvent = { event in
      let isOn = event == .radio(.advertising(nil))
      Console.error("\(name): \(event)\(isOn ? " at \(served.address); Ctrl-C ends it" : "")")
    }
    try ring.start()
    await interruption.wait()
    await ring.stop()
  }
}

extension RingOnAdapter.Event: CustomStringConvertible {
  public var description: String {
    switch self {
    case .radio(let event): "\(event)"
    case .switchedOff: "switched off; it advertises no longer"
    }
  }
}

extension RawPeripheral.Event: CustomStringConvertible {
  public var description: String {
    switch self {
    case .connected(let central): "connected by \(central)"
    case .disconnected(let central, let loss): "the link to \(central) has ended: \(loss)"
    case .advertising(let error?): "the adapter does not advertise: \(error); trying again"
    case .advertising(nil): "advertises"
    }
  }
}
