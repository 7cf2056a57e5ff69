import Foundation
internal import HaloGATT
internal import HaloStorage

/// A service as a program has added it. Later changes of the program's objects have no effect.
typealias ServiceDefinition = PeripheralRestoration.Service

extension ServiceDefinition {
  /// - Parameters:
  ///   - service: the service that the program adds
  ///   - number: its number
  ///   - numberOf: the numbers of services that were added before
  /// - Throws: why it can't be offered
  init(_ service: CBMutableService, number: Int, numberOf: (CBService) -> Int?) throws(CBError) {
    guard service.uuid.value != GATTUUID.genericAccess, service.uuid.value != GATTUUID.genericAttribute else {
      throw CBError(.uuidNotAllowed, "each device has the service \(service.uuid.uuidString) already")
    }
    var included: [Int] = []
    for other in service.includedServices ?? [] {
      guard let number = numberOf(other) else {
        throw CBError(.invalidParameters, "add the included service \(other.uuid.uuidString) before")
      }
      included.append(number)
    }
    var characteristics: [PeripheralRestoration.Characteristic] = []
    for characteristic in service.characteristics ?? [] {
      guard let characteristic = characteristic as? CBMutableCharacteristic else {
        throw CBError(
          .invalidParameters, "\(characteristic.uuid.uuidString) is a characteristic of a peripheral")
      }
      characteristics.append(try .init(characteristic))
    }
    self.init(
      number: number, uuid: service.uuid.value, isPrimary: service.isPrimary, included: included,
      characteristics: characteristics)
  }
}

extension PeripheralRestoration.Characteristic {
  fileprivate init(_ characteristic: CBMutableCharacteristic) throws(CBError) {
    var descriptors: [PeripheralRestoration.Descriptor] = []
    for descriptor in characteristic.descriptors ?? [] {
      guard let bytes = descriptor.publishedValue else {
        throw CBError(
          .invalidParameters,
          "a program may give a user description (2901) with a String, and a presentation format (2904) with Data; "
            + "not \(descriptor.uuid.uuidString) with \(descriptor.value ?? "no value")")
      }
      descriptors.append(.init(uuid: descriptor.uuid.value, value: bytes))
    }
    guard (characteristic.value?.count ?? 0) <= 512 else {
      throw CBError(
        .invalidParameters, "the value of \(characteristic.uuid.uuidString) is longer than 512 bytes")
    }
    self.init(
      uuid: characteristic.uuid.value,
      properties: UInt16(truncatingIfNeeded: characteristic.properties.rawValue),
      permissions: UInt16(truncatingIfNeeded: characteristic.permissions.rawValue),
      value: characteristic.value.map { Array($0) }, descriptors: descriptors)
  }

  /// As the program has set them.
  var propertySet: CBCharacteristicProperties { CBCharacteristicProperties(rawValue: UInt(properties)) }
  /// As the program has set them.
  var permissionSet: CBAttributePermissions { CBAttributePermissions(rawValue: UInt(permissions)) }
}

extension CBDescriptor {
  /// Its value on the wire; nil for a descriptor that a program can't give.
  fileprivate var publishedValue: [UInt8]? {
    switch uuid.uuidString {
    case CBUUIDCharacteristicUserDescriptionString: (value as? String).map { Array($0.utf8.prefix(512)) }
    case CBUUIDCharacteristicFormatString: (value as? Data).map { Array($0.prefix(512)) }
    default: nil
    }
  }
}

extension CBMutableCharacteristic {
  /// A value that is given at the beginning is served without calls of the delegate, so that it cannot be changed. Anything
  /// else is an error of the program, which ends it, as on Apple's systems.
  func checkCachedValue() {
    guard value != nil else { return }
    precondition(
      properties.subtracting([.read, .extendedProperties]).isEmpty
        && permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired]),
      "Characteristics with cached values must be read-only: \(uuid.uuidString)")
  }
}

extension CBMutableService {
  /// The object of a restored service.
  convenience init(_ definition: ServiceDefinition, included: [CBService]) {
    self.init(type: CBUUID(definition.uuid), primary: definition.isPrimary)
    includedServices = included.isEmpty ? nil : included
    characteristics = definition.characteristics.map { characteristic in
      let made = CBMutableCharacteristic(
        type: CBUUID(characteristic.uuid), properties: characteristic.propertySet,
        value: characteristic.value.map { Data($0) }, permissions: characteristic.permissionSet)
      let descriptors = characteristic.descriptors.map { descriptor in
        let isText = CBUUID(descriptor.uuid).uuidString == CBUUIDCharacteristicUserDescriptionString
        return CBMutableDescriptor(
          type: CBUUID(descriptor.uuid),
          value: isText ? String(decoding: descriptor.value, as: UTF8.self) as Any : Data(descriptor.value))
      }
      made.descriptors = descriptors.isEmpty ? nil : descriptors
      return made
    }
  }
}
