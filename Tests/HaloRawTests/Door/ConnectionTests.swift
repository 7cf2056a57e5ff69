import HaloGATT
import HaloRaw
import TestLoop
import Testing

/// What a program reads, writes and hears over a connection.
@BluetoothActor
@Suite(.onTheLoop) struct ConnectionTests {
  private let battery = CharacteristicID<Percent>.batteryLevel

  @Test func valuesAreReadAndWrittenByTheirIdentifiers() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    #expect(connection.peer == Strap.address)
    #expect(try await connection.read(battery) == 81)
    #expect(try await connection.read(battery.instance(1)) == 45)
    try await connection.write([1], to: Strap.controlPoint)
    try await connection.writeWithoutResponse([2], to: Strap.controlPoint)
    await connection.disconnect()
    #expect(strap.writes == [[1], [2]])
    #expect(!strap.isConnected)
  }

  @Test func listsServicesWithInstanceNumbers() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    let services = try await connection.services()
    #expect(services.map(\.uuid) == [0x180D, 0x180F, 0x180F])
    let all = services.flatMap(\.characteristics)
    #expect(all.map(\.uuid) == [0x2A37, 0x2A39, 0x2A19, 0x2A19])
    #expect(all[0].properties == .notify)
    #expect(all.map(\.id.instance) == [0, 0, 0, 1])
    #expect(try await connection.read(all[3].id) == [45])
  }

  @Test func reportsErrorCodesOfMissingAttributesAndInvalidValues() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    let name = await failure { try await connection.read(.deviceName) }
    #expect(name?.code == .notFound)
    let third = await failure { try await connection.read(battery.instance(2)) }
    #expect(third?.code == .notFound)
    let long: [UInt8] = Array(repeating: 0, count: 513)
    let refused = await failure { try await connection.write(long, to: Strap.controlPoint) }
    #expect(refused?.code == .invalidValue)
    #expect(refused?.mayHaveTakenEffect == false)
    let tooLong: [UInt8] = Array(repeating: 0, count: 515)
    let command = await failure { try await connection.writeWithoutResponse(tooLong, to: Strap.controlPoint) }
    #expect(command?.code == .invalidValue)
  }

  @Test func reportsErrorCodesOfForbiddenReadsAndInvalidValues() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    let sealed = await failure { try await connection.read(Strap.controlPoint) }
    #expect(sealed?.code == .notPermitted && sealed?.attCode == .readNotPermitted)
    try strap.database.setValue([101], of: strap.database.handles(of: 0x2A19)[0])
    let percent = await failure { try await connection.read(battery) }
    #expect(percent?.code == .peerMisbehaved)
    do {
      _ = try await connection.read(Strap.controlPoint)
    } catch BluetoothError.Code.notPermitted {
      // A code is a pattern.
    }
  }

  /// The values of a burst have been one and the same in a wrapper that read them later: manolofdez/AsyncBluetooth 62.
  @Test func eachValueOfABurstIsItsOwn() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    let heard = spawn {
      try await connection.values(of: Strap.measurement).first(20).map(\.value.beatsPerMinute)
    }
    await strap.untilConfigured()
    for rate: UInt8 in 60...79 { strap.notify([0, rate]) }
    #expect(try await heard.value == Array(60...79))
  }

  @Test func dropsAndCountsOldestValuesOfSlowReader() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    let heard = spawn {
      var all: [Received<HeartRateMeasurement>] = []
      for try await beat in connection.values(of: Strap.measurement, keepingNewest: 3) {
        all.append(beat)
        if all.count == 1 { await testTimers.sleep(for: .seconds(5)) }
        if all.count == 4 { break }
      }
      return all
    }
    await strap.untilConfigured()
    strap.notify([0, 60])
    await testTimers.sleep(for: .seconds(1))
    for rate: UInt8 in 61...70 { strap.notify([0, rate]) }
    let all = try await heard.value
    #expect(all.map(\.value.beatsPerMinute) == [60, 68, 69, 70])
    #expect(all.map(\.dropped) == [0, 7, 0, 0])
  }

  /// A device may send what is no value: the iteration goes on, and tells how many there were.
  @Test func countsUndecodableValues() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    let decoded = spawn { try await connection.values(of: Strap.measurement).first(2) }
    let raw = spawn {
      try await connection.values(of: CharacteristicID<[UInt8]>(0x2A37, in: 0x180D)).first(4).map(\.value)
    }
    await strap.untilConfigured()
    for value: [UInt8] in [[0, 60], [], [1, 2], [0, 61]] { strap.notify(value) }
    #expect(try await decoded.value.map(\.undecodable) == [0, 2])
    #expect(try await raw.value == [[0, 60], [], [1, 2], [0, 61]])
  }

  @Test func theSinkGetsTheBytesWhileTheBodyRuns() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    let heard = Heard()
    let result = try await connection.withValues(of: Strap.measurement) { bytes, time in
      heard.values.append(Array(bytes))
    } _: {
      await strap.untilConfigured()
      strap.notify([0, 60])
      await testTimers.sleep(for: .seconds(1))
      return 7
    }
    #expect(result == 7)
    await testTimers.sleep(for: .seconds(1))
    strap.notify([0, 61])
    await testTimers.sleep(for: .seconds(1))
    #expect(heard.values == [[0, 60]])
    #expect(strap.configurations == [.notify, []])
  }

  /// Two parts of a program listen to one connection; with single closures, the last one would win.
  @Test func eventsReachAllListeners() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    let listeners = (0..<2).map { _ in
      spawn {
        var kinds: [ConnectionEvent.Kind] = []
        for try await event in connection.events { kinds.append(event.kind) }
        return kinds
      }
    }
    await testTimers.sleep(for: .seconds(5))
    await strap.leave()
    for listener in listeners { #expect(try await listener.value.last == .lost) }
  }

  /// The device moves its services, and says so: the program notices nothing.
  @Test func readsCharacteristicAfterHandleChange() async throws {
    let strap = try await Strap(tellsChanges: true)
    let connection = try await strap.connection()
    #expect(try await connection.read(battery.instance(1)) == 45)
    await testTimers.sleep(for: .seconds(15))
    strap.moveBattery(to: 33)
    await testTimers.sleep(for: .seconds(5))
    #expect(try await connection.read(battery.instance(1)) == 33)
  }
}

/// What a sink has got.
@BluetoothActor
private final class Heard {
  var values: [[UInt8]] = []
}

extension Values {
  /// The first elements.
  func first(_ count: Int) async throws -> [Element] {
    var elements: [Element] = []
    for try await element in self {
      elements.append(element)
      if elements.count == count { break }
    }
    return elements
  }
}
