/// The procedure that a client's requests or a server's values belong to (Core Specification Vol 3, Part G, 4).
public enum ObservedProcedure: String, Hashable, Sendable, CaseIterable {
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
  public var name: String { rawValue }

  public var reference: String {
    let section =
      switch self {
      case .exchangeMTU: "4.3.1"
      case .discoverPrimaryServices: "4.4.1"
      case .discoverServiceByUUID: "4.4.2"
      // No procedure of its own: secondary services are found by being included.
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
    return "Vol 3, Part G, \(section)"
  }
}
