import ATT
import BluetoothCore

/// The GATT meaning of an ATT PDU (Core Specification Vol 3, Part G).
public struct GATTLayer: Hashable, Sendable {
  public var procedure: ObservedProcedure?
  /// The number of the packet that began the procedure.
  public var start: Int?
  /// The how-manieth request of the procedure this is, or answers; from 1.
  public var step = 1
  /// Of a response or confirmation, what it answers.
  public var request: PacketReference?
  /// The attribute that the PDU is about, once it was discovered.
  public var attribute: Attribute?
  /// The handle of ``attribute``; of a response, that of the request.
  public var handle: AttributeHandle?
  /// Of a request or response by type: the type.
  public var type: BluetoothUUID?
  /// The number of the packet of an earlier request that was never answered.
  public var unanswered: Int?
  /// The MTU of the link from here on, if this packet settles it.
  public var mtu: UInt16?

  var summary: String {
    var words = procedure?.name ?? attribute?.name ?? "no request seen"
    if step > 1 { words += ", step \(step)" }
    if let request { words += ", answered \(request.words)" }
    if let mtu { words += ", MTU is \(mtu) now" }
    if let unanswered { words += "; the request before (packet \(unanswered)) was never answered" }
    return words
  }

  func fields(at offset: Int) -> [PacketField] {
    let range = offset..<offset
    let reference = procedure?.reference ?? "Vol 3, Part G, 4"
    var fields: [PacketField] = []
    func add(_ name: String, _ value: String?) {
      if let value { fields.append(PacketField(name, value, range: range, reference: reference)) }
    }
    add("procedure", procedure?.name)
    add("began in", start.map { "packet \($0)" })
    add("step", "\(step)")
    add("answered", request?.words)
    add("attribute", attribute?.name)
    add("MTU", mtu.map { "\($0)" })
    add("never answered", unanswered.map { "packet \($0)" })
    return fields
  }
}
