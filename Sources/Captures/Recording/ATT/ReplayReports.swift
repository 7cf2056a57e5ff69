import ATT
import HaloBluetoothCore

/// A request that the capture has no answer for.
public struct MissingAnswer: Hashable, Sendable, CustomStringConvertible {
  /// The method of the request.
  package var request: ATTOpcode
  package var handle: AttributeHandle?
  /// The type of the attribute; nil if it is not known.
  public var uuid: BluetoothUUID?
  /// The data missing in the capture: "its value was not read".
  public var reason: String
  /// The number of the packet in the capture with the most similar request; nil if there is none.
  public var nearestPacket: Int?

  public var description: String {
    var place = ""
    if let handle { place += " of \(handle)" }
    if let uuid { place += handle == nil ? " of \(uuid)" : " (\(uuid))" }
    return "\(request)\(place): \(reason)" + (nearestPacket.map { "; nearest is packet \($0)" } ?? "")
  }
}

/// A write with another value than any recorded one.
public struct AdaptedWrite: Hashable, Sendable {
  package var handle: AttributeHandle
  public var sent: [UInt8]
  /// The recorded write whose answers it got, and its packet's number; nil if it was answered as having no data.
  public var recorded: [UInt8]?
  public var packet: Int?
}

/// The protocol of a device beyond GATT, as far as a replay needs it.
package protocol ReplayDialect: Sendable {
  /// Whether the answers to the recorded value suit another one that is sent to the characteristic; nil if unknown: the
  /// longest common beginning decides.
  func accepts(_ recorded: [UInt8], for sent: [UInt8], at characteristic: BluetoothUUID?) -> Bool?
  /// The notification with which the device reports that it has no data for a written value; nil if there is none.
  func answerWithoutData(
    to value: [UInt8], at characteristic: BluetoothUUID?
  ) -> (characteristic: BluetoothUUID, value: [UInt8])?
}

/// The reason for which a capture can't be replayed at the level of ATT, or the data that a replay lacked.
public enum ReplayError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The capture has no such connection; the descriptions of those that it has.
  case noConnection([String])
  case unverified(unmet: [ReplayedPeripheral.Expectation], missing: [MissingAnswer])

  public var description: String {
    switch self {
    case .noConnection(let all) where all.isEmpty:
      "the capture has no connection with ATT traffic to replay"
    case .noConnection(let all): "the capture has no such connection; it has " + all.joined(separator: "; ")
    case .unverified(let unmet, let missing):
      (unmet.map { "the client did not \($0)" } + missing.map { "the capture has no answer: \($0)" })
        .joined(separator: "; ")
    }
  }
}
