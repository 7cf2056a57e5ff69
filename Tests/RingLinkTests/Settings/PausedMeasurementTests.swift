import ATT
import HaloGATT
import HaloBluetoothCore
import TestLink
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// Automatic measurements that are paused for a stream, and restored: nothing else of their settings changes.
@BluetoothActor
@Suite(.onTheLoop) struct PausedMeasurementTests {
  /// A ring that stores the settings of two automatic measurements, and has no others.
  @BluetoothActor private final class Device {
    let link = FakeLink()
    let settings: [RingSetting]
    var stored: [String: RingFrame] = [:]
    /// The settings that were written, in order.
    var writes: [String] = []

    init(_ settings: [RingSetting]) {
      self.settings = settings
      link.server = { [weak self] pdu in
        // Write Command: the frame follows the opcode and the handle.
        if let frame = try? RingFrame(parsing: Array(pdu.dropFirst(3)).span.bytes) { self?.answer(frame) }
        return nil
      }
    }

    private func answer(_ frame: RingFrame) {
      guard let setting = settings.first(where: { $0.readRequest.command == frame.command }) else {
        if let refusal = RingFrame.refusal(of: frame.command) { send(refusal) }
        return
      }
      let name = setting.entry.name
      if frame == setting.readRequest {
        if let stored = stored[name] { send(stored) }
      } else if let reply = try? setting.reply(afterWrite: frame) {
        stored[name] = reply
        writes.append(name)
        send(setting.acknowledgement)
      }
    }

    private func send(_ frame: RingFrame) {
      link.timers.schedule(after: .milliseconds(1)) { [link] in
        link.receive("1b 1200" + Hex.string(frame.bytes))
      }
    }

    func set(_ setting: RingSetting, _ numbers: [String: Int]) throws {
      stored[setting.entry.name] = try setting.reply(afterWrite: try setting.writeRequest(numbers))
    }

    func numbers(_ setting: RingSetting) throws -> [String: Int] {
      try setting.numbers(in: try #require(stored[setting.entry.name]))
    }
  }

  private let first = CommandTable.automaticMeasurements[0]
  private let second = CommandTable.automaticMeasurements[1]
  private let device: Device
  private let ring: RingClient

  init() {
    device = Device([first, second])
    func characteristic(_ uuid: BluetoothUUID, _ properties: CharacteristicProperties, _ handle: UInt16)
      -> Characteristic
    {
      Characteristic(
        uuid: uuid, properties: properties, declaration: AttributeHandle(handle - 1),
        valueHandle: AttributeHandle(handle), end: AttributeHandle(handle + 1))
    }
    ring = RingClient(
      device.link.connection(), write: characteristic(RingGATT.commandWrite, .writeWithoutResponse, 0x10),
      notify: characteristic(RingGATT.commandNotify, .notify, 0x12))
    let dispatcher = ring.dispatcher
    let onPDU = device.link.onPDU
    device.link.onPDU = { pdu, arrival in
      if pdu.byte(at: 0) == 0x1B {
        dispatcher.receive(pdu.extracting(3..<pdu.byteCount), at: arrival.time)
      } else {
        onPDU?(pdu, arrival)
      }
    }
  }

  @Test func pausesAndRestoresEnabledMeasurements() async throws {
    let on = first.defaults.merging(["enabled": 1]) { $1 }
    let off = second.defaults.merging(["enabled": 0]) { $1 }
    try device.set(first, on)
    try device.set(second, off)
    let before = (try device.numbers(first), try device.numbers(second))
    let saved = try await ring.automaticMeasurements()
    #expect(Array(saved.settings.keys) == [first.entry.name])
    try await ring.pause(saved)
    #expect(try device.numbers(first) == before.0.merging(["enabled": 0]) { $1 })
    #expect(try device.numbers(second) == before.1)
    try await ring.restore(saved)
    #expect(try device.numbers(first) == before.0 && device.writes == [first.entry.name, first.entry.name])
  }

  /// Another program has switched it on since then, perhaps with other values.
  @Test func restoreKeepsMeasurementsEnabledByOthers() async throws {
    try device.set(first, first.defaults.merging(["enabled": 1]) { $1 })
    let saved = try await ring.automaticMeasurements()
    try await ring.restore(saved)
    #expect(device.writes == [])
  }

  /// The first of two is refused now: the second is restored nevertheless.
  @Test func eachIsRestoredByItself() async throws {
    for setting in [first, second] {
      try device.set(setting, setting.defaults.merging(["enabled": 1]) { $1 })
    }
    let saved = try await ring.automaticMeasurements()
    #expect(saved.settings.count == 2)
    try await ring.pause(saved)
    device.stored[first.entry.name] = nil
    let ring = self.ring
    await #expect(throws: RingError.self) { try await ring.restore(saved) }
    #expect(try device.numbers(second)["enabled"] == 1)
  }
}
