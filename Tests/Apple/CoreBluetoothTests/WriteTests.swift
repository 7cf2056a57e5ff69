import CoreBluetooth
import HaloRaw
import HaloSystem
import TestSupport
import Testing

/// Writes with and without a response. Programs that send parts of a longer value are in the reports
/// don/cordova-plugin-ble-central 632, innoveit/react-native-ble-manager 63, 1067 and 1166, h2zero/NimBLE-Arduino 183
/// (more than 512 bytes).
@Suite(.timeLimit(.minutes(60))) struct WriteTests {
  /// A command point is written to with a response, the data without, and the order counts.
  @Test(arguments: 1...10) func writesOfBothKindsArriveInTheOrderOfTheCalls(seed: UInt64) async {
    let strap = await Devices.strap()
    let (recorder, radio) = await connected(strap)
    var random = SeededGenerator(seed: seed)
    let kinds = (0..<200).map { _ in Bool.random(using: &random) }
    await recorder.perform { me in
      let point = me.characteristic("2A39")
      // Other requests are in front of the first one.
      for _ in 0..<8 { me.peripherals["Strap"]?.readValue(for: me.characteristic("2A38")) }
      for (number, isRequest) in kinds.enumerated() {
        me.peripherals["Strap"]?.writeValue(
          Data([UInt8(number)]), for: point, type: isRequest ? .withResponse : .withoutResponse)
      }
      me.peripherals["Strap"]?.writeValue(Data([255]), for: point, type: .withResponse)
    }
    await recorder.until("wrote 2A39", count: kinds.count(where: { $0 }) + 1)
    #expect(await strap.writes.map(\.value) == (0..<200).map { [UInt8($0)] } + [[255]])
    await radio.close()
  }

  /// Nordic's library for updates sends 300 packets of 20 bytes, and asks for their checksum: the request was there after 9.
  @Test func aRequestToAnotherCharacteristicArrivesInTheOrderOfTheCalls() async {
    let strap = await Devices.strap()
    let (recorder, radio) = await connected(strap)
    let counts = LockedValue<[Int]>([])
    await BluetoothActor.run { [weak strap] in
      strap?.answer = { pdu in
        if pdu.first == 0x0A { counts.withLock { $0.append(strap?.writes.count ?? 0) } }
        return nil
      }
    }.value
    await recorder.perform { me in
      for _ in 0..<3 {
        for number in 0..<100 {
          me.peripherals["Strap"]?.writeValue(
            Data([UInt8(number)]), for: me.characteristic("2A39"), type: .withoutResponse)
        }
        me.peripherals["Strap"]?.readValue(for: me.characteristic("2A38"))
      }
    }
    await recorder.until("value 2A38 [1]", count: 3)
    #expect(counts.withLock { $0 } == [100, 200, 300])
    await radio.close()
  }

  @Test func writesThatWaitWhenTheLinkEndsAreAnsweredOnce() async {
    let strap = await Devices.strap()
    let (recorder, radio) = await connected(strap)
    // Requests to the control point are not answered.
    await BluetoothActor.run { strap.answer = { $0.first == 0x12 ? [] : nil } }.value
    await recorder.perform { me in
      for number in 0..<20 {
        me.peripherals["Strap"]?.writeValue(
          Data([UInt8(number)]), for: me.characteristic("2A39"),
          type: number % 2 == 0 ? .withResponse : .withoutResponse)
      }
    }
    await BluetoothActor.run {}.value
    await strap.leave()
    await recorder.until("disconnected Strap peripheralDisconnected, disconnected")
    await recorder.perform { $0.central.scanForPeripherals() }
    await recorder.until("connected Strap", count: 2)
    #expect(recorder.log.count { $0.hasPrefix("wrote 2A39 ") } == 10)
    // The credits of the new link are whole.
    await recorder.perform { me in me.note("\(me.peripherals["Strap"]?.canSendWriteWithoutResponse ?? false)")
    }
    await recorder.until("true")
    await radio.close()
  }

  @Test func aWriteWithoutResponseIsAtMostAValueLong() async {
    let strap = await Devices.strap()
    await BluetoothActor.run { strap.mtu = 517 }.value
    let (recorder, radio) = await connected(strap)
    #expect(recorder.peripherals["Strap"]?.maximumWriteValueLength(for: .withoutResponse) == 512)
    await recorder.perform { me in
      for length in [512, 513, 514, 515, 600] {
        me.peripherals["Strap"]?.writeValue(
          Data(repeating: 7, count: length), for: me.characteristic("2A39"), type: .withoutResponse)
      }
      me.peripherals["Strap"]?.writeValue(
        Data(repeating: 8, count: 513), for: me.characteristic("2A39"), type: .withResponse)
      me.peripherals["Strap"]?.writeValue(Data([1]), for: me.characteristic("2A39"), type: .withResponse)
    }
    await recorder.until("wrote 2A39 invalidAttributeValueLength")
    await recorder.until("wrote 2A39")
    #expect(await strap.writes.map(\.value.count) == [512, 1])
    await radio.close()
  }

  @Test func aWriteWithoutResponseThatDoesNotFitIntoAPacketIsRefused() async {
    let strap = await Devices.strap()
    let (recorder, radio) = await connected(strap)
    await recorder.perform { me in
      for length in [182, 183] {
        me.peripherals["Strap"]?.writeValue(
          Data(repeating: 7, count: length), for: me.characteristic("2A39"), type: .withoutResponse)
      }
      me.peripherals["Strap"]?.writeValue(Data([1]), for: me.characteristic("2A39"), type: .withResponse)
    }
    await recorder.until("wrote 2A39")
    #expect(await strap.writes.map(\.value.count) == [182, 1])
    await radio.close()
  }
}
