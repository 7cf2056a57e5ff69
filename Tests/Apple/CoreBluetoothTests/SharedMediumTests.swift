import CoreBluetooth
import GAP
import HCI
import HaloSystem
import HaloDevices
import HaloRaw
import Testing
import HaloSimulation

/// A program of CoreBluetooth and a peripheral of this package meet in the air: the whole way, from the delegate down to
/// the packets of two controllers.
@Suite struct SharedMediumTests {
  /// A heart-rate strap with a host and a controller of its own.
  @BluetoothActor
  private final class Strap {
    private let medium = RadioMedium(timers: EpollLoop.shared.timers)
    private let peripheral: Peripheral
    private(set) var connections: [GATTLink] = []

    init() async throws {
      var options = ControllerOptions()
      options.address = BluetoothAddress(0xC000_0000_0001, .public)
      let (table, measurement, _) = Devices.strapAttributes()
      let adapter = HCIAdapter(SimulatedTransport(medium, options))
      peripheral = Peripheral(adapter, serving: table)
      _ = try await adapter.start()
      peripheral.onConnection = { [unowned self] connection in
        connections.append(connection)
        connection.server?.onEvent = { [weak connection] event in
          if case .configured(measurement, .notify) = event {
            connection?.server?.notify([0, 72], of: measurement)
          }
        }
      }
      let data = AdvertisingData([
        .flags([.generalDiscoverable, .brEDRNotSupported]), .localName(Array("Strap".utf8), isComplete: true),
      ])
      let response = AdvertisingData([.serviceUUIDs([Devices.heartRate], width: .two, isComplete: true)])
      try peripheral.startAdvertising(try Advertising(data, scanResponse: response))
    }

    /// The radio of another machine.
    func otherRadio() -> ManagedAdapter { ManagedAdapter.kept(HCIAdapter(SimulatedTransport(medium))) }

    func disconnect() async { for connection in connections { await connection.disconnect() } }
  }

  @Test func aStrapIsFoundReadAndHeard() async throws {
    let strap = try await Strap()
    let radio = await strap.otherRadio()
    let recorder = await Recorder.start(radio)
    await recorder.connect("Strap")
    await recorder.discover("Strap")
    await recorder.perform { me in
      me.peripherals["Strap"]?.readValue(for: me.characteristic("2A19"))
      me.peripherals["Strap"]?.setNotifyValue(true, for: me.characteristic("2A37"))
    }
    await recorder.until("value 2A19 [81]")
    await recorder.until("value 2A37 [0, 72]")
    await strap.disconnect()
    await recorder.until("disconnected Strap peripheralDisconnected, disconnected")
    await radio.close()
  }
}
