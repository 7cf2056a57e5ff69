import CoreBluetooth
import HaloDevices
import Testing

/// Two devices that are a central and a peripheral at once and connect to each other, as contact-tracing apps do: there is one
/// link between them (docs/porting.md).
@Suite(.timeLimit(.minutes(60))) struct MutualLinkTests {
  private static func service(_ uuid: String, _ characteristic: String) -> CBMutableService {
    let made = CBMutableService(type: CBUUID(string: uuid), primary: true)
    made.characteristics = [
      CBMutableCharacteristic(
        type: CBUUID(string: characteristic), properties: .read, value: nil, permissions: .readable)
    ]
    return made
  }

  @Test func eachUsesTheOtherOnOneLinkWhichItsMakerEnds() async {
    let meeting = await Meeting()
    let (offer, other) = (
      await PeripheralRecorder.start(meeting.radio), await PeripheralRecorder.start(meeting.other)
    )
    await offer.offer([Self.service("FF00", "FF01")])
    await other.offer([Self.service("FF10", "FF11")], as: "Other")
    let central = await Recorder.start(meeting.radio)
    await central.perform { $0.central.scanForPeripherals() }
    await central.until("found Other")
    await central.perform { $0.central.stopScan() }
    let maker = await meeting.phone(finds: "FF00")
    await maker.until("characteristics of FF00: FF01")
    // The other direction, on the same link.
    await central.perform { me in
      if let peripheral = me.peripherals["Other"] { me.central.connect(peripheral) }
    }
    await central.until("connected Other")
    await central.perform { $0.peripherals["Other"]?.discoverServices() }
    await central.until("services FF10")
    await central.perform { me in
      guard let peripheral = me.peripherals["Other"], let service = peripheral.services?.first else { return }
      peripheral.discoverCharacteristics(nil, for: service)
    }
    await central.until("characteristics of FF10: FF11")
    await central.perform { $0.peripherals["Other"]?.readValue(for: $0.characteristic("FF11")) }
    await central.until("value FF11 []")
    // The side that has not made it leaves it to the other.
    await central.perform { me in
      if let peripheral = me.peripherals["Other"] { me.central.cancelPeripheralConnection(peripheral) }
    }
    await central.until("disconnected Other, disconnected")
    await maker.perform { $0.peripherals["Offer"]?.readValue(for: $0.characteristic("FF01")) }
    await maker.until("value FF01 []")
    // The side that has made it ends it for both.
    await central.perform { me in
      if let peripheral = me.peripherals["Other"] { me.central.connect(peripheral) }
    }
    await central.until("connected Other", count: 2)
    await maker.perform { me in
      if let peripheral = me.peripherals["Offer"] { me.central.cancelPeripheralConnection(peripheral) }
    }
    await maker.until("disconnected Offer, disconnected")
    await central.until("disconnected Other peripheralDisconnected, disconnected")
    await meeting.end()
  }
}
