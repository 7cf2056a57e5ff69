import ATT
import CoreBluetooth
import Foundation
import GAP
import HCI
import HaloBluetoothCore
import HaloDevices
import HaloGATT
import HaloRaw
import HaloSecurityManager
import HaloSimulation
import HaloSystem
import Testing

/// Pairing as programs of CoreBluetooth know it: it is not in the API, and happens when an attribute needs it.
@Suite(.enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct PairingTests {
  /// A device whose value is for paired centrals.
  @BluetoothActor private final class Lock {
    private let bonds = SimulatedBonds()
    var bondCount: Int { bonds.bonds.count }
    private let medium = RadioMedium(timers: EpollLoop.shared.timers)
    private let peripheral: Peripheral
    private let phoneBonds = SimulatedBonds()
    private(set) var links: [GATTLink] = []
    private let value: AttributeHandle

    /// - Parameter hides: whether it has another address after each link
    init(hides: Bool = false) async throws {
      var options = ControllerOptions()
      options.address = BluetoothAddress(0xC000_0000_0001, .public)
      let table = AttributeDatabase()
      table.addService(BluetoothUUID(0xFF00 as UInt16))
      let value = table.addCharacteristic(
        BluetoothUUID(0xFF01 as UInt16), [.read, .notify], value: [42], security: .encrypted)
      self.value = value
      table.addCharacteristic(
        BluetoothUUID(0xFF02 as UInt16), [.read, .authenticatedSignedWrites], value: [0])
      let adapter = HCIAdapter(SimulatedTransport(medium, options))
      let security = Self.security(bonds)
      security.usesPrivateAddresses = hides
      adapter.security = security
      peripheral = Peripheral(adapter, serving: table)
      _ = try await adapter.start()
      peripheral.onConnection = { [unowned self] link in
        links.append(link)
        link.server?.onEvent = { [weak link] event in
          if case .configured(value, .notify) = event { link?.server?.notify([43], of: value) }
        }
      }
      let data = AdvertisingData([
        .flags([.generalDiscoverable, .brEDRNotSupported]), .localName(Array("Lock".utf8), isComplete: true),
      ])
      try peripheral.startAdvertising(try Advertising(data))
    }

    private static func security(_ bonds: SimulatedBonds) -> SecurityHost {
      SecurityHost(LibcryptoCryptography.shared, bonds: bonds, settings: PairingSettings(policy: .justWorks))
    }

    /// The radio of a phone, which keeps its bonds.
    func phoneRadio() -> ManagedAdapter {
      var options = ControllerOptions()
      options.address = BluetoothAddress(0xC000_0000_0002, .public)
      let adapter = HCIAdapter(SimulatedTransport(medium, options))
      adapter.security = Self.security(phoneBonds)
      return ManagedAdapter.kept(adapter)
    }

    /// The addresses that it had on its links.
    var addresses: Set<BluetoothAddress> { Set(links.compactMap { $0.localAddress }) }

    func forget() { bonds.remove(BluetoothAddress(0xC000_0000_0002, .public)) }
    func stop() async { await peripheral.stop() }
  }

  @Test func anEncryptedAccessPairsByItself() async throws {
    let lock = try await Lock()
    let radio = await lock.phoneRadio()
    let phone = await Recorder.start(radio)
    await phone.connect("Lock")
    await readValue(phone)
    await phone.perform { $0.peripherals["Lock"]?.setNotifyValue(true, for: $0.characteristic("FF01")) }
    await phone.until("value FF01 [43]")
    #expect(await lock.bondCount == 1)
    await lock.stop()
    await radio.close()
  }

  /// There is no type of a write for signatures. Over an encrypted link, a plain command takes their place; in clear, without a
  /// key, nothing is sent.
  @Test func aSignedWriteIsAWriteWithoutResponse() async throws {
    let lock = try await Lock()
    let radio = await lock.phoneRadio()
    let phone = await Recorder.start(radio)
    await phone.connect("Lock")
    await discover(phone)
    func write(_ byte: UInt8, then value: String) async {
      await phone.perform { me in
        guard let lock = me.peripherals["Lock"] else { return }
        lock.writeValue(Data([byte]), for: me.characteristic("FF02"), type: .withoutResponse)
        lock.readValue(for: me.characteristic("FF02"))
      }
      await phone.until("value FF02 \(value)")
    }
    await write(6, then: "[0]")
    await phone.perform { $0.peripherals["Lock"]?.readValue(for: $0.characteristic("FF01")) }
    await phone.until("value FF01 [42]")
    await write(7, then: "[7]")
    await lock.stop()
    await radio.close()
  }

  /// The object of a program stands for the device, whatever address it has.
  @Test func anObjectOutlivesTheAddress() async throws {
    let lock = try await Lock(hides: true)
    let radio = await lock.phoneRadio()
    let phone = await Recorder.start(radio)
    await phone.connect("Lock")
    await readValue(phone)
    await disconnect(phone)
    await connectAgain(phone)
    await phone.until("connected Lock", count: 2)
    await readValue(phone, times: 2)
    #expect(await lock.bondCount == 1)
    #expect(await lock.addresses.count == 2)
    await lock.stop()
    await radio.close()
  }

  /// The device was reset: Apple's error, and no link in clear.
  @Test func aForgottenBondFailsToConnect() async throws {
    let lock = try await Lock()
    let radio = await lock.phoneRadio()
    let phone = await Recorder.start(radio)
    await phone.connect("Lock")
    await readValue(phone)
    await disconnect(phone)
    await lock.forget()
    await connectAgain(phone)
    await phone.until("failed Lock peerRemovedPairingInformation")
    await lock.stop()
    await radio.close()
  }

  /// Where Apple's systems show a dialog, the closure of the program asks.
  @Test func aPersonIsAskedByTheProgram() async throws {
    let asking = PairingOptions.asking(.displayAndConfirm) { question, _ in
      if case .compare = question { .accept } else { .refuse }
    }
    let device = try await Radio.open(RadioSelector("virtual:air=asking"), pairing: asking)
    let value = CharacteristicID<[UInt8]>("FF01", in: "FF00")
    let service = LocalService(
      "FF00", LocalCharacteristic(value, [42], security: .authenticated),
      LocalCharacteristic(CharacteristicID<[UInt8]>("FF02", in: "FF00"), [0]))
    try await device.serve([service], as: "Lock") { _ in
      let phone = Recorder()
      await phone.perform {
        $0.central = CBCentralManager(
          delegate: $0, queue: $0.queue,
          options: [
            CBCentralManagerOptionAdapterKey: "virtual:air=asking", CBCentralManagerOptionPairingKey: asking,
          ])
      }
      await phone.until("poweredOn")
      await phone.connect("Lock")
      await readValue(phone)
      await phone.perform { $0.central = nil }
    }
    try await device.close()
  }

  private func disconnect(_ phone: Recorder) async {
    await phone.perform { me in
      if let peripheral = me.peripherals["Lock"] { me.central.cancelPeripheralConnection(peripheral) }
    }
    await phone.until("disconnected Lock, disconnected")
  }

  private func connectAgain(_ phone: Recorder) async {
    await phone.perform { me in
      if let peripheral = me.peripherals["Lock"] { me.central.connect(peripheral) }
    }
  }

  /// - Parameter times: how often it was read by then
  private func readValue(_ phone: Recorder, times: Int = 1) async {
    await discover(phone, times: times)
    await phone.perform { $0.peripherals["Lock"]?.readValue(for: $0.characteristic("FF01")) }
    await phone.until("value FF01 [42]", count: times)
  }

  private func discover(_ phone: Recorder, times: Int = 1) async {
    await phone.perform { $0.peripherals["Lock"]?.discoverServices() }
    await phone.until("services FF00", count: times)
    await phone.perform { me in
      guard let lock = me.peripherals["Lock"], let service = lock.services?.first else { return }
      lock.discoverCharacteristics(nil, for: service)
    }
    await phone.until("characteristics of FF00: FF01,FF02", count: times)
  }
}
