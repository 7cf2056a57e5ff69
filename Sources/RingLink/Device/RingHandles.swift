import ATT
import HaloGATT
import HaloBluetoothCore

/// Recognizes the services of a ring by the values that are written and notified, where their UUIDs are not known: a
/// capture that begins after discovery has only handles.
package struct RingHandles {
  private struct Count {
    var frames = 0
    var bulk = 0
    var others = 0

    mutating func add(_ value: [UInt8]) {
      if (try? RingFrame(parsing: value.span.bytes)) != nil {
        frames += 1
      } else if RingHandles.isBulkStart(value) {
        bulk += 1
      } else {
        others += 1
      }
    }
  }

  private var written: [AttributeHandle: Count] = [:]
  private var notified: [AttributeHandle: Count] = [:]
  private var texts: [AttributeHandle: String] = [:]
  /// The wall clock that the ring was given first, and when, in microseconds since 1970-01-01 UTC; nil if none was seen.
  package private(set) var clock: (setting: ClockSetting, time: Int64)?

  package init() {}

  /// Adds a value that was written. At most 64 handles are looked at.
  ///
  /// - Parameters:
  ///   - value: the bytes that were written
  ///   - handle: of the characteristic's value
  ///   - time: when, in microseconds since 1970-01-01 UTC
  package mutating func addWrite(_ value: [UInt8], to handle: AttributeHandle, at time: Int64) {
    guard written.count < 64 || written[handle] != nil else { return }
    written[handle, default: Count()].add(value)
    if clock == nil, let frame = try? RingFrame(parsing: value.span.bytes),
      frame.command == CommandTable.setTime.command
    {
      clock = (try? ClockSetting(parsing: frame)).map { ($0, time) }
    }
  }

  /// Adds a value that was notified.
  package mutating func addNotification(_ value: [UInt8], of handle: AttributeHandle) {
    guard notified.count < 64 || notified[handle] != nil else { return }
    notified[handle, default: Count()].add(value)
  }

  /// Adds a value that was read.
  package mutating func addRead(_ value: [UInt8], of handle: AttributeHandle) {
    guard texts.count < 64, (4...64).contains(value.count), value.allSatisfy({ (0x20...0x7E).contains($0) })
    else { return }
    texts[handle] = String(printable: value)
  }

  /// Whether the value begins a bulk frame whose CRC is right, or one that goes on.
  private static func isBulkStart(_ value: [UInt8]) -> Bool {
    var assembler = BulkAssembler()
    guard value.first == BulkFrame.magic else { return false }
    switch assembler.receive(value.span.bytes, at: .zero) {
    case .frame, .incomplete: return true
    case .raw, .dropped: return false
    }
  }

  /// The attributes of the ring's services at the handles of the traffic; nil if it is not that of a ring: frames of 16
  /// bytes with right checksums, written to one handle and notified by another.
  package var attributes: [ServerAttribute]? {
    func handle(_ counts: [AttributeHandle: Count], _ kind: KeyPath<Count, Int>) -> AttributeHandle? {
      // The later parts of a bulk frame look like anything.
      counts.filter {
        $0.value[keyPath: kind] > 0 && (kind == \.bulk || $0.value.others <= $0.value.frames / 8)
      }
      .max { ($0.value[keyPath: kind], $1.key.rawValue) < ($1.value[keyPath: kind], $0.key.rawValue) }?.key
    }
    guard let write = handle(written, \.frames), let notify = handle(notified, \.frames), write != notify,
      var all = Self.service(
        RingGATT.commandService, (RingGATT.commandWrite, write, [.write, .writeWithoutResponse]),
        (RingGATT.commandNotify, notify, .notify))
    else { return nil }
    if let bulkWrite = handle(written, \.bulk), let bulkNotify = handle(notified, \.bulk),
      let bulk = Self.service(
        RingGATT.bulkService, (RingGATT.bulkWrite, bulkWrite, [.write, .writeWithoutResponse]),
        (RingGATT.bulkNotify, bulkNotify, .notify)), Self.areApart(all, bulk)
    {
      all += bulk
    }
    if let information = information, Self.areApart(all, information) { all += information }
    return all.sorted { $0.handle < $1.handle }
  }

  /// The attributes of the command service of a ring whose handles are known.
  package static func attributes(
    write: Characteristic, notify: Characteristic, firmwareRevision: String?
  ) -> [ServerAttribute]? {
    guard
      var all = service(
        RingGATT.commandService, (RingGATT.commandWrite, write.valueHandle, write.properties),
        (RingGATT.commandNotify, notify.valueHandle, notify.properties))
    else { return nil }
    // Where the ring has its firmware's name is not stored: any free place will do.
    if let firmwareRevision {
      all.append(
        ServerAttribute(
          handle: 0xFFF0, type: GATTUUID.primaryService,
          value: RingGATT.deviceInformationService.wireBytes, groupEnd: 0xFFF2))
      all += characteristic(RingGATT.firmwareRevision, 0xFFF2, .read, Array(firmwareRevision.utf8))
    }
    return all.sorted { $0.handle < $1.handle }
  }

  /// Device Information, of the revisions that were read.
  private var information: [ServerAttribute]? {
    let revisions = texts.filter {
      RingFirmware(firmwareRevision: $0.value, hardwareRevision: nil).family != .unknown
    }
    let hardware = revisions.first { $0.value.contains("_V") }
    let firmware = revisions.first { !$0.value.contains("_V") }
    let values = [(RingGATT.firmwareRevision, firmware), (RingGATT.hardwareRevision, hardware)].compactMap {
      uuid, found in found.map { (uuid, $0.key, Array($0.value.utf8)) }
    }.sorted { $0.1 < $1.1 }
    guard let first = values.first, let last = values.last, first.1.rawValue > 2 else { return nil }
    var all = [
      ServerAttribute(
        handle: AttributeHandle(first.1.rawValue - 2), type: GATTUUID.primaryService,
        value: RingGATT.deviceInformationService.wireBytes, groupEnd: last.1)
    ]
    for (uuid, handle, value) in values { all += Self.characteristic(uuid, handle, .read, value) }
    return Set(all.map(\.handle)).count == all.count ? all : nil
  }

  private typealias Part = (
    uuid: BluetoothUUID, handle: AttributeHandle, properties: CharacteristicProperties
  )

  /// A service of two characteristics, of which the second sends notifications.
  private static func service(_ uuid: BluetoothUUID, _ write: Part, _ notify: Part) -> [ServerAttribute]? {
    let first = min(write.handle, notify.handle)
    guard first.rawValue > 2, write.handle.rawValue < 0xFFF0, notify.handle.rawValue < 0xFFF0 else {
      return nil
    }
    let configuration = AttributeHandle(notify.handle.rawValue + 1)
    var all = [
      ServerAttribute(
        handle: AttributeHandle(first.rawValue - 2), type: GATTUUID.primaryService, value: uuid.wireBytes,
        groupEnd: max(write.handle, configuration))
    ]
    all += characteristic(write.uuid, write.handle, write.properties)
    all += characteristic(notify.uuid, notify.handle, notify.properties)
    all.append(
      ServerAttribute(
        handle: configuration, type: GATTUUID.clientCharacteristicConfiguration, access: [.read, .write],
        value: [0, 0], capacity: 2, configuration: 1))
    return Set(all.map(\.handle)).count == all.count ? all : nil
  }

  private static func characteristic(
    _ uuid: BluetoothUUID, _ handle: AttributeHandle, _ properties: CharacteristicProperties,
    _ value: [UInt8]? = nil
  ) -> [ServerAttribute] {
    return [
      ServerAttribute(
        handle: AttributeHandle(handle.rawValue - 1), type: GATTUUID.characteristic,
        value: CharacteristicDeclaration(uuid, properties, at: handle).bytes),
      ServerAttribute(
        handle: handle, type: uuid, access: value == nil ? .write : .read, value: value ?? [], capacity: 512),
    ]
  }

  private static func areApart(_ a: [ServerAttribute], _ b: [ServerAttribute]) -> Bool {
    func range(_ all: [ServerAttribute]) -> (first: AttributeHandle, last: AttributeHandle) {
      let handles = all.map(\.handle)
      return (handles.min() ?? 1, handles.max() ?? 1)
    }
    return range(a).last < range(b).first || range(b).last < range(a).first
  }
}

extension RingFrame {
  /// The answer of a ring that has nothing stored for this request (ring reference, 4); nil for a request that is not about
  /// stored data.
  package var answerWithoutData: RingFrame? {
    let logs = CommandTable.entries(for: .frame(command)).contains { $0.replies.contains(.noData) }
    return logs ? RingFrame(command, NoFields(), form: .noData) : nil
  }

  /// Whether both ask for the stored data of the same day, or one of them for none.
  package func isAboutDay(of other: RingFrame) -> Bool {
    guard answerWithoutData != nil || other.answerWithoutData != nil else { return true }
    guard command == CommandTable.heartRateLog.command, command == other.command,
      let own = try? DayByTime(parsing: self), let others = try? DayByTime(parsing: other)
    else { return self == other }
    return own.day == others.day
  }

  /// Whether both are requests of one entry of the table, so that an answer to one has the form of an answer to the other.
  package func hasForm(of other: RingFrame) -> Bool {
    guard command == other.command else { return false }
    return CommandTable.entries(for: .frame(command)).allSatisfy { entry in
      entry.prefix.enumerated().allSatisfy {
        (byte(at: $0.offset + 1) == $0.element) == (other.byte(at: $0.offset + 1) == $0.element)
      }
    } && (hasFreeParameters || byte(at: 1) == other.byte(at: 1))
  }

  /// Whether its first byte after the command does not select a form of the command: the time to set, a day, or anything behind a
  /// command without parameters, as apps send it.
  private var hasFreeParameters: Bool {
    command == CommandTable.setTime.command || answerWithoutData != nil || hasNoParameters
  }

  private var hasNoParameters: Bool {
    let entries = CommandTable.entries(for: .frame(command))
    return !entries.isEmpty
      && entries.allSatisfy { entry in
        entry.prefix.isEmpty && !entry.requests.isEmpty
          && entry.requests.allSatisfy { $0.marks.isEmpty && $0.fields.isEmpty }
      }
  }
}
