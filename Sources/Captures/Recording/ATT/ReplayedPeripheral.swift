import ATT
import HaloGATT
import HCI
import HaloBluetoothCore

/// A peripheral out of a capture: it answers a client as the recorded server did.
///
/// Requests are matched by their meaning, that is the same procedure on the same attributes, and not by their position: a
/// program may ask in another order, leave requests out, or repeat them. Repeated requests get the recorded answers one after
/// the other, and then the last one again. Discovery is answered from a table of all that the capture shows. Notifications come
/// with the recorded distance to the write or to the subscription that they followed. Requests without an answer in the capture
/// are refused with an ATT error, and listed in ``missing``.
///
///     let peripheral = try ReplayedPeripheral(path: "heart-rate.btsnoop")
///     peripheral.expect(write: [1], to: BluetoothUUID(UInt16(0x2A39)))
///     let central = Central(ReplayAdapter(peripheral, time: time))
///     // The program under test connects to peripheral.address.
///     try peripheral.verify()
@BluetoothActor
public final class ReplayedPeripheral {
  /// The address of the device; made up if the capture does not have it.
  public let address: BluetoothAddress
  /// The name, from an advertisement, the Device Name that was read, or the options; nil if unknown.
  public let name: String?
  /// All that is known of its attributes.
  package let attributes: RecordedAttributes
  /// The recorded connections to it, in order. Each connection of a client gets the next one, and then the last one again
  /// unless the peripheral ended it.
  package let connections: [RecordedConnection]
  /// The captured traffic of all devices.
  package let traffic: RecordedTraffic

  /// The requests of a client that have no answer in the capture, in order; at most 1000.
  public internal(set) var missing: [MissingAnswer] = []
  /// Writes that were answered like a similar recorded one, in order; at most 1000.
  public internal(set) var adapted: [AdaptedWrite] = []
  /// The number of requests and commands that had a recorded answer.
  public internal(set) var matched = 0
  /// The number of notifications and indications that were sent.
  public internal(set) var notified = 0

  private var expectations: [(expectation: Expectation, isMet: Bool)] = []
  let dialogues: [RecordedDialogue]
  let matching: Matching
  let dialect: (any ReplayDialect)?

  /// Which values of a write are taken for a recorded one.
  public enum Matching: Hashable, Sendable {
    /// The same value only.
    case exact
    /// Without an equal one, the recorded value with the longest common beginning: a command with other parameters.
    case similar
  }

  /// The contents and the manner of a replay.
  public struct Options: Sendable {
    /// The number of the connection, counted in the capture from 1; nil for the one with the most traffic.
    public var connection: Int?
    /// The address of the peer; nil for any.
    public var peer: BluetoothAddress?
    /// Attributes that the capture does not show.
    package var table: [ServerAttribute] = []
    /// The name if the capture does not show it.
    public var name: String?
    public var matching = Matching.similar
    /// The protocol of the device beyond GATT; nil if unknown.
    package var dialect: (any ReplayDialect)?

    public init() {}
  }

  static let mostReports = 1000

  /// - Throws: ``ReplayError`` if the capture has no such connection
  package init(_ traffic: RecordedTraffic, _ options: Options = Options()) throws(ReplayError) {
    // A capture of advertisements has a peripheral without attributes.
    let first = try Self.choose(traffic.connections, options) ?? RecordedConnection(peer: nil, pdus: [])
    self.traffic = traffic
    matching = options.matching
    dialect = options.dialect
    var connections = [first]
    if options.connection == nil, first.isServerPeer, let peer = first.peer {
      connections += traffic.connections.filter {
        $0.number > first.number && $0.peer == peer && $0.isServerPeer
      }
    }
    self.connections = connections
    // Attributes that other connections to the same device show hold, too.
    let relatives = traffic.connections.filter { other in
      let isSamePeer = first.peer != nil && other.peer == first.peer
      return other.number == first.number || isSamePeer && first.isServerPeer && other.isServerPeer
    }
    var attributes = RecordedAttributes()
    for connection in relatives { attributes.learn(connection) }
    if !options.table.isEmpty { attributes.add(options.table) }
    attributes.learnUses(relatives)
    self.attributes = attributes
    dialogues = connections.map { RecordedDialogue($0, attributes) }
    address = (first.isServerPeer ? first.peer : nil) ?? Self.madeUpAddress
    let advertised = Self.name(of: address, in: traffic.reports)
    let deviceName = attributes.handles(of: GATTUUID.deviceName).lazy.filter { attributes.hasValue($0) }
      .compactMap { attributes[$0].map { String(printable: $0.value) } }.first
    name = advertised ?? deviceName ?? options.name
  }

  /// Reads a capture of any format.
  ///
  /// - Throws: `CaptureError`, ``ReplayError``
  public convenience init(path: String, _ options: Options = Options()) throws {
    try self.init(try RecordedTraffic(path: path), options)
  }

  /// A static random address.
  private static let madeUpAddress = BluetoothAddress(0xC0DE_0000_0001, .random)

  /// The connection that the options select: of those with a peer that is the server, the first of those with the most
  /// notifications and indications, and with the most responses.
  ///
  /// - Returns: nil if there is no connection, and none was selected: a capture of advertisements
  nonisolated package static func choose(
    _ connections: [RecordedConnection], _ options: Options
  ) throws(ReplayError) -> RecordedConnection? {
    if connections.isEmpty, options.connection == nil, options.peer == nil { return nil }
    let found = connections.filter { connection in
      (options.connection == nil || connection.number == options.connection)
        && (options.peer == nil || connection.peer?.value == options.peer?.value)
    }
    guard let chosen = best(of: found) else { throw .noConnection(connections.map(\.description)) }
    return chosen
  }

  /// The first of those with the most traffic.
  nonisolated package static func best(of connections: [RecordedConnection]) -> RecordedConnection? {
    func rank(_ connection: RecordedConnection) -> (Int, Int, Int) {
      let content = connection.content
      return (connection.isServerPeer ? 1 : 0, content.values, content.responses)
    }
    return connections.map { ($0, rank($0)) }.max { $0.1 < $1.1 }?.0
  }

  /// The connections that have more notifications and indications than the replayed one, and are not replayed.
  package var richer: [RecordedConnection] {
    let values = connections.first?.content.values ?? 0
    let replayed = Set(connections.map(\.number))
    return traffic.connections.filter {
      !replayed.contains($0.number) && $0.isServerPeer && $0.content.values > values
    }
  }

  private static func name(of address: BluetoothAddress, in reports: [RecordedTraffic.Report]) -> String? {
    let own = reports.lazy.filter { $0.report.address.value == address.value }
    return own.compactMap { AdvertisingData($0.report.data).localName }.first
  }

  // MARK: Expectations

  /// Something that the program must do.
  public struct Expectation: Hashable, Sendable, CustomStringConvertible {
    enum Act: Hashable {
      case write([UInt8])
      case read
      case subscription
    }

    var act: Act
    /// The characteristic.
    public var uuid: BluetoothUUID

    public var description: String {
      switch act {
      case .write(let value): "write \(Hex.string(value, separator: " ")) to \(uuid)"
      case .read: "read \(uuid)"
      case .subscription: "subscribe to \(uuid)"
      }
    }
  }

  /// Expects that the client writes these bytes to the characteristic, in any way: with or without response, or in parts.
  /// If it is expected several times, it must be written as often.
  public func expect(write value: [UInt8], to uuid: BluetoothUUID) { expect(.write(value), uuid) }

  /// Expects that the client reads the characteristic.
  public func expect(readOf uuid: BluetoothUUID) { expect(.read, uuid) }

  /// Expects that the client subscribes to the characteristic.
  public func expect(subscriptionTo uuid: BluetoothUUID) { expect(.subscription, uuid) }

  private func expect(_ act: Expectation.Act, _ uuid: BluetoothUUID) {
    expectations.append((Expectation(act: act, uuid: uuid), false))
  }

  /// The expectations that the client has not met so far, in the order of the calls.
  public var unmet: [Expectation] { expectations.lazy.filter { !$0.isMet }.map(\.expectation) }

  /// Checks that everything expected was done, and that the capture had all answers.
  public func verify() throws(ReplayError) {
    guard unmet.isEmpty, missing.isEmpty else { throw .unverified(unmet: unmet, missing: missing) }
  }

  func meet(_ act: Expectation.Act, at handle: AttributeHandle) {
    guard
      let index = expectations.firstIndex(where: { entry in
        !entry.isMet && entry.expectation.act == act
          && attributes.handles(of: entry.expectation.uuid).contains(handle)
      })
    else { return }
    expectations[index].isMet = true
  }
}
