import ATT
import HaloBluetoothCore

/// The GATT meaning of an ATT PDU (Core Specification Vol 3, Part G).
package struct GATTLayer: Hashable, Sendable {
  package var procedure: ObservedProcedure?
  /// The number of the packet that began the procedure.
  package var start: Int?
  /// The number of the request within the procedure, which this is, or which it answers; from 1.
  package var step = 1
  /// The packet that a response or a confirmation answers.
  package var request: PacketReference?
  /// The attribute that the PDU is about, once it was discovered.
  package var attribute: Attribute?
  /// The handle of ``attribute``; of a response, that of the request.
  package var handle: AttributeHandle?
  /// The type in a request by type, or in its response.
  package var type: BluetoothUUID?
  /// In a response with declarations of characteristics, the service that they are in, if it is known.
  package var service: Attribute?
  /// The number of the packet of an earlier request that was never answered.
  package var unanswered: Int?
  /// The MTU of the link from here on, if this packet settles it.
  package var mtu: UInt16?

  func writeSummary(to text: inout TextBuffer) {
    text.write(procedure?.name ?? attribute?.name ?? "no request seen")
    if step > 1 { text.write(", step ", step) }
    if let request { text.write(", answered ", request) }
    if let mtu { text.write(", MTU is ", Int(mtu), " now") }
    if let unanswered { text.write("; the request before (packet ", unanswered, ") was never answered") }
  }

  func list(at offset: Int, to list: FieldList) {
    let reference = procedure?.reference ?? "Vol 3, Part G, 4"
    func add<Value>(_ name: StaticString, _ value: Value?, _ write: (inout TextBuffer, Value) -> Void) {
      guard let value else { return }
      list.add(name, range: offset..<offset, reference: reference) { write(&$0, value) }
    }
    func packet(_ text: inout TextBuffer, _ number: Int) {
      text.write("packet ", number)
    }
    add("procedure", procedure?.name) { $0.write($1) }
    add("began in", start, packet)
    add("step", step) { $0.write($1) }
    add("answered", request) { $0.write($1) }
    add("attribute", attribute?.name) { $0.write($1) }
    add("MTU", mtu) { $0.write(Int($1)) }
    add("never answered", unanswered, packet)
  }
}

/// The procedure that a client's requests or a server's values belong to (Core Specification Vol 3, Part G, 4).
package enum ObservedProcedure: String, Hashable, Sendable, CaseIterable {
  case exchangeMTU = "Exchange MTU"
  case discoverPrimaryServices = "Discover All Primary Services"
  case discoverServiceByUUID = "Discover Primary Service by Service UUID"
  case discoverSecondaryServices = "Discover Secondary Services"
  case findIncludedServices = "Find Included Services"
  case discoverCharacteristics = "Discover All Characteristics of a Service"
  case discoverDescriptors = "Discover All Characteristic Descriptors"
  case readValue = "Read Characteristic Value"
  case readByUUID = "Read Using Characteristic UUID"
  case readLong = "Read Long Characteristic Values"
  case readMultiple = "Read Multiple Characteristic Values"
  case readMultipleVariable = "Read Multiple Variable Length Characteristic Values"
  case writeWithoutResponse = "Write Without Response"
  case signedWrite = "Signed Write Without Response"
  case writeValue = "Write Characteristic Value"
  case writeLong = "Write Long Characteristic Values"
  case notifications = "Notifications"
  case multipleNotifications = "Multiple Variable Length Notifications"
  case indications = "Indications"
  case readDescriptor = "Read Characteristic Descriptors"
  case readLongDescriptor = "Read Long Characteristic Descriptors"
  case writeDescriptor = "Write Characteristic Descriptors"
  case writeLongDescriptor = "Write Long Characteristic Descriptors"

  /// In the terms of the specification.
  package var name: String { rawValue }

  package var reference: String { Self.references[self] ?? "Vol 3, Part G, 4" }

  private static let references = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0, "Vol 3, Part G, \($0.section)") })

  private var section: String {
    switch self {
    case .exchangeMTU: "4.3.1"
    case .discoverPrimaryServices: "4.4.1"
    case .discoverServiceByUUID: "4.4.2"
    // No procedure of its own: secondary services are found as included services.
    case .discoverSecondaryServices: "4.4"
    case .findIncludedServices: "4.5.1"
    case .discoverCharacteristics: "4.6.1"
    case .discoverDescriptors: "4.7.1"
    case .readValue: "4.8.1"
    case .readByUUID: "4.8.2"
    case .readLong: "4.8.3"
    case .readMultiple: "4.8.4"
    case .readMultipleVariable: "4.8.5"
    case .writeWithoutResponse: "4.9.1"
    case .signedWrite: "4.9.2"
    case .writeValue: "4.9.3"
    case .writeLong: "4.9.4"
    case .notifications: "4.10.1"
    case .multipleNotifications: "4.10.2"
    case .indications: "4.11.1"
    case .readDescriptor: "4.12.1"
    case .readLongDescriptor: "4.12.2"
    case .writeDescriptor: "4.12.3"
    case .writeLongDescriptor: "4.12.4"
    }
  }
}
