import Foundation
internal import HaloBluetoothCore

/// The objects of a program for the services of its peripheral manager, and for the centrals that use them.
struct OfferedObjects {
  typealias Place = PeripheralRole.Place

  private struct Offered {
    let service: CBMutableService
    /// The ones that the service had when it was added.
    let characteristics: [CBMutableCharacteristic]
    /// Nil if it can't be offered.
    let definition: ServiceDefinition?
  }

  /// By their numbers.
  private var offered: [Int: Offered] = [:]
  private var places: [ObjectIdentifier: Place] = [:]
  /// The centrals that are connected.
  private var centrals: [PeerIdentity: CBCentral] = [:]
  private(set) var nextNumber = 0

  // MARK: Services

  /// - Parameter definition: nil if it can't be offered
  mutating func add(_ service: CBMutableService, _ definition: ServiceDefinition?) {
    let number = definition?.number ?? nextNumber
    nextNumber = max(nextNumber, number + 1)
    let characteristics = service.characteristics?.compactMap { $0 as? CBMutableCharacteristic } ?? []
    offered[number] = Offered(service: service, characteristics: characteristics, definition: definition)
    guard definition != nil else { return }
    for (index, characteristic) in characteristics.enumerated() {
      places[ObjectIdentifier(characteristic)] = Place(service: number, index: index)
    }
  }

  /// Keeps the services with these numbers.
  mutating func keep(_ isKept: (Int) -> Bool) {
    let gone = offered.keys.filter { !isKept($0) }
    guard !gone.isEmpty else { return }
    for number in gone { offered[number] = nil }
    places = places.filter { !gone.contains($0.value.service) }
  }

  /// The numbers of an object: several, if it was added again while the end of the first time was not reported.
  func numbers(of service: CBService) -> [Int] {
    offered.filter { $0.value.service === service && $0.value.definition != nil }.keys.sorted()
  }

  func service(_ number: Int) -> CBMutableService? { offered[number]?.service }

  func definition(_ number: Int) -> ServiceDefinition? { offered[number]?.definition }

  func place(of characteristic: CBMutableCharacteristic) -> Place? {
    places[ObjectIdentifier(characteristic)]
  }

  func characteristic(_ place: Place) -> CBMutableCharacteristic? {
    guard let all = offered[place.service]?.characteristics, all.indices.contains(place.index) else {
      return nil
    }
    return all[place.index]
  }

  // MARK: Centrals

  mutating func central(_ client: PeerIdentity) -> CBCentral {
    if let known = centrals[client] { return known }
    let made = CBCentral(client)
    centrals[client] = made
    return made
  }

  mutating func left(_ client: PeerIdentity) { centrals[client] = nil }

  // MARK: Reports

  /// The call of the delegate; nil if the object of the program is gone.
  mutating func delivery(_ report: PeripheralRole.Report) -> PeripheralDelivery? {
    switch report {
    case .added(let number, let error): return service(number).map { .added($0, error) }
    case .started(let error): return .started(error)
    case .subscribed(let client, let place):
      guard let characteristic = characteristic(place) else { return nil }
      return .subscribed(central(client), characteristic)
    case .unsubscribed(let client, let place):
      guard let characteristic = characteristic(place) else { return nil }
      return .unsubscribed(central(client), characteristic, of: service(place.service))
    case .ready: return .ready
    case .requested(let request):
      let central = central(request.client)
      let all = request.parts.compactMap { part in
        characteristic(part.place).map {
          CBATTRequest(
            central: central, characteristic: $0, offset: part.offset,
            value: request.isRead ? nil : Data(part.value), number: request.number)
        }
      }
      return request.isRead ? all.first.map { .read($0) } : .wrote(all)
    }
  }
}
