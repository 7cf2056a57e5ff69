import ATT
import HaloBluetoothCore
import HaloCapture
import HaloGATT
import HaloRecording
import HaloStorage
import RingLink

/// How to replay a capture.
package struct ReplayOptions: Hashable, Sendable {
  /// The layer that the replay takes the place of.
  package enum Level: String, Hashable, Sendable, CaseIterable {
    /// The controller: every packet of the host is compared with the recorded one. For recordings of this package.
    case hci
    /// The peripheral: it answers by the meaning of requests. For captures of any program.
    case att
  }

  /// Nil to choose: HCI for a recording of this package, as far as its host had the controller for itself, else ATT.
  package var level: Level?
  /// The consequence of a difference.
  package var strictness = ReplayTransport.Strictness.strict
  /// The index of the adapter; nil for the first in the file, or for any at the level of ATT.
  package var adapter: UInt16?
  /// The number of the first packet to replay.
  package var first = 1
  /// The number of the connection, at the level of ATT; nil to choose.
  package var connection: Int?
  /// The peer of the connection, at the level of ATT; nil for any.
  package var peer: BluetoothAddress?
  /// A file with the attribute table, as `inspect --format jsonl` prints it; nil for the attributes that the capture shows.
  package var table: String?

  package init() {}

  var transport: ReplayTransport.Options {
    ReplayTransport.Options(strictness: strictness, adapter: adapter, first: first)
  }

  /// The level that is replayed: the chosen one, else the one that fits the file.
  ///
  /// - Throws: `CaptureError` if the file can't be opened or read
  package func level(of path: String) throws(CaptureError) -> Level {
    if let level { return level }
    guard connection == nil, peer == nil, table == nil else { return .att }
    do throws(CaptureError) {
      let host = try RecordedHost(path: path, transport)
      return host.isSetUpLikeOurs && !host.usesBonds ? .hci : .att
    } catch {
      switch error.reason {
      case .cannotOpen, .cannotRead: throw error
      // An adapter without packets is the same at both levels; the error there lists the others.
      case .noPackets: return .hci
      default: return .att
      }
    }
  }

  /// The peripheral of a capture.
  ///
  /// - Parameters:
  ///   - path: the capture
  ///   - known: the attributes of a device that was used before, by its address
  /// - Throws: `CaptureError`, `AttributeTableError`, `ReplayError`
  @BluetoothActor
  package func peripheral(
    of path: String, known: (BluetoothAddress) -> [ServerAttribute]? = { _ in nil }
  ) throws -> ReplayedPeripheral {
    let given = try table.map { try AttributeTableFile.read($0) }
    let traffic = try RecordedTraffic(path: path, .init(adapter: adapter, first: first))
    var options = ReplayedPeripheral.Options()
    options.dialect = RingDialect()
    options.connection = connection
    options.peer = peer
    if connection == nil, peer == nil {
      // A connection to a ring, if there is one.
      let rings = traffic.connections.filter { $0.isServerPeer && RingHandles($0).attributes != nil }
      options.connection = ReplayedPeripheral.best(of: rings)?.number
    }
    let chosen = try ReplayedPeripheral.choose(traffic.connections, options)
    options.connection = connection
    options.peer = peer ?? (connection == nil ? chosen?.peer : nil)
    if connection == nil, options.peer == nil { options.connection = chosen?.number }
    if let given {
      options.table = given
    } else if let chosen {
      options.table = Self.undiscovered(of: chosen, known)
    }
    return try ReplayedPeripheral(traffic, options)
  }

  /// The services of a ring that were discovered before the capture: by the traffic of this connection, else by the known
  /// layout of the ring. A host that knows the handles discovers nothing, or only other services.
  private static func undiscovered(
    of connection: RecordedConnection, _ known: (BluetoothAddress) -> [ServerAttribute]?
  ) -> [ServerAttribute] {
    let shown = connection.attributes
    let table = RingHandles(connection).attributes ?? connection.peer.flatMap(known) ?? []
    return table.allSatisfy { shown[$0.handle] == nil } ? table : []
  }
}

extension RingHandles {
  /// The values in the traffic of a connection.
  package init(_ connection: RecordedConnection) {
    self.init()
    var read: AttributeHandle?
    for pdu in connection.pdus {
      guard let first = pdu.bytes.first else { continue }
      let opcode = ATTOpcode(rawValue: first)
      switch (opcode, pdu.isFromServer) {
      case (.writeRequest, false), (.writeCommand, false), (.handleValueNotification, true),
        (.readRequest, false):
        guard let handle = pdu.leadingHandle else { continue }
        let value = Array(pdu.bytes.dropFirst(3))
        if opcode == .readRequest {
          read = handle
        } else if pdu.isFromServer {
          addNotification(value, of: handle)
        } else {
          addWrite(value, to: handle, at: pdu.time)
        }
      case (.readResponse, true):
        if let handle = read { addRead(Array(pdu.bytes.dropFirst()), of: handle) }
        read = nil
      default: break
      }
    }
  }
}

/// A replay's knowledge of a ring beyond GATT: which commands are alike, and how a ring reports that it has no data.
struct RingDialect: ReplayDialect {
  func accepts(_ recorded: [UInt8], for sent: [UInt8], at characteristic: BluetoothUUID?) -> Bool? {
    switch characteristic {
    case RingGATT.commandWrite:
      guard let recorded = try? RingFrame(parsing: recorded.span.bytes),
        let sent = try? RingFrame(parsing: sent.span.bytes)
      else { return false }
      // The data of one day are no answer to a request for another one.
      return recorded.hasForm(of: sent) && recorded.isAboutDay(of: sent)
    case RingGATT.bulkWrite: return recorded.prefix(2) == sent.prefix(2)
    default: return nil
    }
  }

  func answerWithoutData(
    to value: [UInt8], at characteristic: BluetoothUUID?
  ) -> (characteristic: BluetoothUUID, value: [UInt8])? {
    guard characteristic == RingGATT.commandWrite, let frame = try? RingFrame(parsing: value.span.bytes),
      let answer = frame.answerWithoutData
    else { return nil }
    return (RingGATT.commandNotify, answer.bytes)
  }
}
