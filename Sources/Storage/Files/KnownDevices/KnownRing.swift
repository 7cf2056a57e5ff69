import ATT
import HaloBluetoothCore
import HaloGATT
import RingLink

/// The stored data of a ring that was used before.
package struct KnownRing: Equatable, Sendable, StoredEntry {
  /// The handles of its attributes; see `RingLayout`.
  package struct Handles: Equatable, Sendable {
    package var write: UInt16
    package var writeProperties: UInt8
    package var notify: UInt16
    package var notifyProperties: UInt8
    package var configuration: UInt16

    /// - Parameters:
    ///   - write: where commands are written
    ///   - writeProperties: of that characteristic, as in its declaration
    ///   - notify: where answers come from
    ///   - notifyProperties: of that characteristic
    ///   - configuration: the descriptor that enables notifications
    package init(
      write: UInt16, writeProperties: UInt8, notify: UInt16, notifyProperties: UInt8, configuration: UInt16
    ) {
      self.write = write
      self.writeProperties = writeProperties
      self.notify = notify
      self.notifyProperties = notifyProperties
      self.configuration = configuration
    }
  }

  package var name: String?
  /// `C0:11:22:33:A1:B2`
  package var address: String
  /// `public` or `random`
  package var type: String
  package var firmware: String?
  package var handles: Handles?
  /// The Database Hash of its server, 32 hexadecimal digits; nil if it has none.
  package var databaseHash: String?
  /// The last setting of the ring's clock by this computer.
  package var clock: ClockRecord?

  /// Which device it is; nil if the address is none.
  package var peer: PeerIdentity? { BluetoothAddress("\(address)/\(type)").map { PeerIdentity($0) } }

  package init(name: String?, peer: PeerIdentity, layout: RingLayout?) {
    self.name = name
    address = peer.description
    type = peer.address.kind == .public ? "public" : "random"
    firmware = layout?.firmwareRevision
    databaseHash = layout?.databaseHash.map { Hex.string($0) }
    handles = layout.map {
      Handles(
        write: $0.commandWrite.valueHandle.rawValue, writeProperties: $0.commandWrite.properties.rawValue,
        notify: $0.commandNotify.valueHandle.rawValue,
        notifyProperties: $0.commandNotify.properties.rawValue, configuration: $0.configuration.rawValue)
    }
  }

  /// The layout to open the ring with; nil if none is stored or it is not valid.
  package var layout: RingLayout? {
    guard let handles, handles.write > 1, handles.notify > 1, handles.configuration > handles.notify else {
      return nil
    }
    func characteristic(
      _ uuid: BluetoothUUID, _ handle: UInt16, _ properties: UInt8, end: UInt16
    ) -> Characteristic {
      Characteristic(
        uuid: uuid, properties: CharacteristicProperties(rawValue: properties),
        declaration: AttributeHandle(handle - 1), valueHandle: AttributeHandle(handle),
        end: AttributeHandle(end))
    }
    return RingLayout(
      commandWrite: characteristic(
        RingGATT.commandWrite, handles.write, handles.writeProperties, end: handles.write),
      commandNotify: characteristic(
        RingGATT.commandNotify, handles.notify, handles.notifyProperties, end: handles.configuration),
      configuration: AttributeHandle(handles.configuration), firmwareRevision: firmware,
      databaseHash: databaseHash.flatMap { Hex.bytes($0) })
  }

  package var isPlausible: Bool {
    peer != nil && clock?.isPlausible ?? true
      && databaseHash.map { Hex.bytes($0)?.count == 16 } ?? true
      && [name, firmware].allSatisfy { $0?.utf8.count ?? 0 <= 512 }
  }

  package func isMeant(by selector: RingSelector) -> Bool {
    selector.isMeant(name: name, address: peer?.address)
  }

  package init(_ json: JSONValue) throws(JSONError) {
    name = try json.optionalMember("name")
    address = try json.member("address")
    type = try json.member("type")
    firmware = try json.optionalMember("firmware")
    handles = try json.optionalMember("handles")
    databaseHash = try json.optionalMember("databaseHash")
    clock = try json.optionalMember("clock")
    guard isPlausible else { throw .wrongKind(path: []) }
  }

  package var json: JSONValue {
    .members([
      "name": name.map { .string($0) }, "address": .string(address), "type": .string(type),
      "firmware": firmware.map { .string($0) }, "handles": handles?.json,
      "databaseHash": databaseHash.map { .string($0) }, "clock": clock?.json,
    ])
  }
}

extension KnownRing.Handles: JSONDecodable {
  package init(_ json: JSONValue) throws(JSONError) {
    write = try json.member("write")
    writeProperties = try json.member("writeProperties")
    notify = try json.member("notify")
    notifyProperties = try json.member("notifyProperties")
    configuration = try json.member("configuration")
  }

  fileprivate var json: JSONValue {
    .object([
      "write": .integer(Int(write)), "writeProperties": .integer(Int(writeProperties)),
      "notify": .integer(Int(notify)), "notifyProperties": .integer(Int(notifyProperties)),
      "configuration": .integer(Int(configuration)),
    ])
  }
}

/// The time to which this computer has set a ring's clock. The ring does not report it.
package struct ClockRecord: Equatable, Sendable, JSONDecodable {
  /// The time of the setting, in seconds since 1970-01-01 UTC.
  package var set: Int
  /// `local` or `utc`.
  package var policy: String
  /// The offset of the ring's wall clock from UTC, in seconds; positive if it is ahead.
  package var utcOffset: Int

  package init(set: Int, policy: TimePolicy, utcOffset: Int) {
    self.set = set
    self.policy = policy.rawValue
    self.utcOffset = utcOffset
  }

  /// Whether the time fits into the 32 bits of a ring and the offset is one of a time zone.
  fileprivate var isPlausible: Bool {
    (0...Int(UInt32.max)).contains(set) && (-86400...86400).contains(utcOffset)
      && TimePolicy(rawValue: policy) != nil
  }

  package var timePolicy: TimePolicy { TimePolicy(rawValue: policy) ?? .local }

  /// The time on the ring's clock, if no other program set it and its quartz is exact.
  package func ringTime(atUnix seconds: Int) -> RingTime { RingTime(seconds: seconds + utcOffset) }

  package init(_ json: JSONValue) throws(JSONError) {
    set = try json.member("set")
    policy = try json.member("policy")
    utcOffset = try json.member("utcOffset")
  }

  var json: JSONValue {
    .object(["set": .integer(set), "policy": .string(policy), "utcOffset": .integer(utcOffset)])
  }
}
