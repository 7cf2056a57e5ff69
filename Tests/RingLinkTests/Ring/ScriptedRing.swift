import ATT
import HaloGATT
import HaloBluetoothCore
import TestLink
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// A ring on a fake link: it has its services, keeps what it is asked, and answers a millisecond later what the test says.
@BluetoothActor
final class ScriptedRing {
  let link = FakeLink()
  /// The answers to a frame, in order; none by default.
  var answer: (RingFrame) -> [RingFrame] = { _ in [] }
  /// The notified values that answer a bulk request.
  var answerBulk: (BulkID, [UInt8]) -> [[UInt8]] = { _, _ in [] }
  /// What was written: frames without the padding, bulk requests whole.
  private(set) var asked: [String] = []

  private let server: InMemoryServer
  private let write: AttributeHandle
  private let notify: AttributeHandle
  private let bulkWrite: AttributeHandle
  private let bulkNotify: AttributeHandle

  /// - Parameters:
  ///   - confirms: whether writes are confirmed
  ///   - hasBulk: whether it has the second service
  ///   - revisions: of Device Information: the UUID and the text of each
  init(confirms: Bool = true, hasBulk: Bool = true, revisions: [(BluetoothUUID, String)] = []) {
    let table = AttributeDatabase()
    table.addService(RingGATT.commandService, at: 0x0E)
    write = table.addCharacteristic(
      RingGATT.commandWrite, confirms ? [.write, .writeWithoutResponse] : .writeWithoutResponse)
    notify = table.addCharacteristic(RingGATT.commandNotify, .notify)
    if hasBulk {
      table.addService(RingGATT.bulkService, at: 0x20)
      bulkWrite = table.addCharacteristic(RingGATT.bulkWrite, confirms ? .write : .writeWithoutResponse)
      bulkNotify = table.addCharacteristic(RingGATT.bulkNotify, .notify)
    } else {
      (bulkWrite, bulkNotify) = (0xFFFE, 0xFFFF)
    }
    if !revisions.isEmpty {
      table.addService(RingGATT.deviceInformationService, at: 0x40)
      for (uuid, text) in revisions { table.addCharacteristic(uuid, .read, value: Array(text.utf8)) }
    }
    server = InMemoryServer(table, mtu: 247)
    server.server.onEvent = { [weak self] event in
      if case .written(let handle, let value) = event { self?.written(value, to: handle) }
    }
    link.server = { [weak self] pdu in self?.receive(pdu) }
  }

  func open() async throws -> RingClient { try await RingClient.open(link.connection(), identifies: false) }

  func takeAsked() -> [String] {
    defer { asked = [] }
    return asked
  }

  private func receive(_ pdu: [UInt8]) -> [UInt8]? { server.receive(pdu.span.bytes).first }

  private func written(_ value: [UInt8], to handle: AttributeHandle) {
    if handle == write, let frame = try? RingFrame(parsing: value.span.bytes) {
      asked.append(frame.digits)
      for answer in answer(frame) { send(answer) }
    } else if handle == bulkWrite, value.count >= BulkFrame.headerLength {
      asked.append(Hex.string(value))
      for answer in answerBulk(BulkID(rawValue: value[1]), Array(value.dropFirst(6))) { sendBulk(answer) }
    }
  }

  /// Notifies a frame a millisecond later, or after another time.
  func send(_ frame: RingFrame, after time: Duration = .milliseconds(1)) { notify(frame.bytes, notify, time) }

  /// Notifies a value of the second service.
  func sendBulk(_ value: [UInt8], after time: Duration = .milliseconds(1)) { notify(value, bulkNotify, time) }

  /// Notifies a value of the first service that is no frame.
  func sendValue(_ value: [UInt8]) { notify(value, notify, .milliseconds(1)) }

  private func notify(_ value: [UInt8], _ handle: AttributeHandle, _ time: Duration) {
    let pdu = Hex.string(Array(ATTHandleValueNotification(handle, value: value).bytes))
    link.timers.schedule(after: time) { [link] in link.receive(pdu) }
  }
}

extension RingFrame {
  /// The bytes without the padding and the checksum.
  var digits: String {
    var bytes = bytes.dropLast()
    while bytes.count > 1, bytes.last == 0 { bytes.removeLast() }
    return Hex.string(bytes)
  }
}

/// A bulk frame on the air.
func bulkFrame(_ id: BulkID, _ payload: [UInt8]) -> [UInt8] {
  var writer = ByteWriter()
  do throws(BulkFrameError) {
    try BulkFrame.write(id, payload: payload, into: &writer)
  } catch {
    preconditionFailure(error.description)
  }
  return writer.bytes
}

/// What `work` throws, and how long it took.
@BluetoothActor
func failure(_ work: () async throws(RingError) -> Void) async -> (error: RingError?, after: Duration) {
  let timers = testTimers
  let start = timers.now
  do throws(RingError) {
    try await work()
    return (nil, timers.now - start)
  } catch {
    return (error, timers.now - start)
  }
}
