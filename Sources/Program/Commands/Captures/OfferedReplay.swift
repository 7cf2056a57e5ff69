import GAP
import HaloBluetoothCore
import HaloCommandLine
import HaloRaw
import HaloRecording

/// A recorded device in the air of a controller for other programs, until Ctrl-C: `replay FILE --listen`.
///
/// - Parameters:
///   - peripheral: the device
///   - address: where hosts connect
@BluetoothActor
func offer(_ peripheral: ReplayedPeripheral, at address: ListenAddress) async throws(Failure) {
  let shared = SharedMedium.named("replay", isFast: false)
  let made = Result { () throws(StackError) in try shared.makeTransport(peripheral.address) }
  let (transport, leave) = try made.mapError { Failure($0) }.get()
  defer { leave() }
  let adapter = HCIAdapter(transport, randomAddress: peripheral.address)
  let controllers = OfferedControllers(shared.medium)
  let interruption = Interruption()
  let result = await outcome {
    _ = try await interruption.cancels { () async throws(StackError) in try await adapter.start() }
    let device = try ReplayedDevice(peripheral, on: adapter)
    device.onEvent = { event in Console.error("\(peripheral.address): \(event)") }
    try device.start()
    let listener = try await address.listen { controllers.attach($0) }
    ServiceManager.shared.ready()
    await interruption.wait()
    listener.close()
    await device.stop()
  }
  controllers.detach()
  await adapter.close()
  try result.get()
  Console.error("replay: \(ReplayReport(peripheral: peripheral).summary)")
}
