import CoreBluetooth
import HaloRaw
import PortedPeripheralsOfSwift5
import PortedPeripheralsOfSwift6
import Testing

/// Peripherals that are written for Apple's systems, compiled in both language modes, met by a central manager on another
/// machine in the same air.
@Suite(.timeLimit(.minutes(60))) struct PortedPeripheralTests {
  private typealias Make = (any CBPeripheralManagerDelegate) -> CBPeripheralManager

  private static let text = String(repeating: "Nobody expects a text in pieces. ", count: 40)

  /// Runs a program, whose delegate is called on a queue of its own.
  private func run(in meeting: Meeting, _ start: (Make) -> Void) {
    start { CBPeripheralManager(delegate: $0, queue: DispatchQueue(label: "ported"), radio: meeting.radio) }
  }

  private func receiveText(_ meeting: Meeting) async {
    let phone = await Recorder.start(meeting.other)
    typealias Transfer = PortedPeripheralsOfSwift5.TransferService
    let uuid = Transfer.characteristicUUID.uuidString
    phone.on("found ?") { me in
      if let peripheral = me.peripherals["?"] { me.central.connect(peripheral) }
    }
    await phone.perform { $0.central.scanForPeripherals(withServices: [Transfer.serviceUUID]) }
    await phone.until("connected ?")
    await phone.perform { $0.peripherals["?"]?.discoverServices() }
    await phone.until("services \(Transfer.serviceUUID.uuidString)")
    await phone.perform { me in
      guard let peripheral = me.peripherals["?"], let service = peripheral.services?.first else { return }
      peripheral.discoverCharacteristics(nil, for: service)
    }
    await phone.until(
      "characteristics of \(Transfer.serviceUUID.uuidString): \(uuid)")
    await phone.perform { me in
      me.peripherals["?"]?.writeValue(Data("ok".utf8), for: me.characteristic(uuid), type: .withoutResponse)
      me.peripherals["?"]?.setNotifyValue(true, for: me.characteristic(uuid))
    }
    await phone.until("value \(uuid) \(Array("EOM".utf8))")
    let bytes = phone.log.filter { $0.hasPrefix("value") }.dropLast().flatMap { line in
      line.drop { $0 != "[" }.dropFirst().dropLast().split(separator: ", ").compactMap { UInt8($0) }
    }
    #expect(String(decoding: bytes, as: UTF8.self) == Self.text)
    await meeting.end()
  }

  @Test func aTextIsTransferred() async {
    let meeting = await Meeting()
    let sender = PortedPeripheralsOfSwift5.TransferSender(Self.text)
    run(in: meeting) { sender.start($0) }
    await receiveText(meeting)
    #expect(sender.received == ["ok"])
    sender.stop()
  }

  @Test func aTextIsTransferredInSwift6Mode() async {
    let meeting = await Meeting()
    let sender = PortedPeripheralsOfSwift6.TransferSender(Self.text)
    run(in: meeting) { sender.start($0) }
    await receiveText(meeting)
    #expect(sender.received == ["ok"])
  }

  private func use(_ meeting: Meeting) async {
    let phone = await meeting.phone("Virtual", finds: "180D,FFE0")
    await phone.until("characteristics of 180D: 2A37,2A38,2A39")
    await phone.until("characteristics of FFE0: FFE1")
    #expect(phone.advertised["Virtual"] == ["180D", "FFE0"])
    await phone.perform { me in
      guard let peripheral = me.peripherals["Virtual"] else { return }
      for uuid in ["2A38", "FFE1"] { peripheral.readValue(for: me.characteristic(uuid)) }
      peripheral.writeValue(Data([1]), for: me.characteristic("2A39"), type: .withResponse)
      peripheral.setNotifyValue(true, for: me.characteristic("FFE1"))
      peripheral.setNotifyValue(true, for: me.characteristic("2A37"))
    }
    await phone.until("value 2A38 [3]")
    await phone.until("value FFE1 \(Array("note".utf8))")
    await phone.until("wrote 2A39 other(128)")
    await phone.until("notifying FFE1 true")
    await phone.perform { me in
      me.peripherals["Virtual"]?.writeValue(
        Data("new".utf8), for: me.characteristic("FFE1"), type: .withResponse)
    }
    await phone.until("wrote FFE1")
    await phone.until("value FFE1 \(Array("new".utf8))")
    await phone.until("value 2A37 [0, 70]")
    await meeting.end()
  }

  @Test func aVirtualPeripheralIsUsed() async {
    let meeting = await Meeting()
    let peripheral = PortedPeripheralsOfSwift5.VirtualPeripheral()
    run(in: meeting) { peripheral.start($0) }
    await use(meeting)
    #expect(peripheral.text == "new")
  }

  @Test func aVirtualPeripheralIsUsedInSwift6Mode() async {
    let meeting = await Meeting()
    let peripheral = PortedPeripheralsOfSwift6.VirtualPeripheral()
    run(in: meeting) { peripheral.start($0) }
    await use(meeting)
    #expect(peripheral.text == "new")
  }
}
