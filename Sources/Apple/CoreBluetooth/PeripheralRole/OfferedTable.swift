import Foundation
internal import HaloBluetoothCore
internal import HaloRaw
internal import HaloSystem

/// The services and the advertisement of a peripheral manager. Changes are made here, from any thread, and the loop gets their
/// effects in their order.
final class OfferedTable: @unchecked Sendable {
  private struct Shared {
    var role = PeripheralRole()
    var objects = OfferedObjects()
    var advertisement = AdvertisementRequest()

    /// The number of a service that is offered.
    func number(of service: CBService) -> Int? { objects.numbers(of: service).first { role.offers($0) } }
  }

  private let shared = LockedValue(Shared())
  private let core: PeripheralCore

  init(_ core: PeripheralCore) {
    self.core = core
  }

  var isAdvertising: Bool { shared.withLock { $0.role.isAdvertising } }

  /// The services and the advertisement that the program wants, to be stored.
  var wanted: (services: [ServiceDefinition], advertisement: AdvertisementRequest?) {
    shared.withLock { shared in
      (
        shared.role.offered.compactMap { shared.objects.definition($0) },
        shared.role.wantsAdvertising ? shared.advertisement : nil
      )
    }
  }

  // MARK: Calls of the program

  func add(_ service: CBMutableService) -> [PeripheralDelivery] {
    for case let characteristic as CBMutableCharacteristic in service.characteristics ?? [] {
      characteristic.checkCachedValue()
    }
    return change { shared in
      let number = shared.objects.nextNumber
      var (definition, refusal): (ServiceDefinition?, CBError?)
      do throws(CBError) {
        guard shared.number(of: service) == nil else {
          throw CBError(.invalidParameters, "the service \(service.uuid.uuidString) was added before")
        }
        definition = try ServiceDefinition(service, number: number) { shared.number(of: $0) }
      } catch {
        refusal = error
      }
      shared.objects.add(service, definition)
      return shared.role.add(number, refusal: refusal)
    }
  }

  func remove(_ service: CBMutableService) -> [PeripheralDelivery] {
    change { $0.role.remove($0.number(of: service)) }
  }

  func removeAll() -> [PeripheralDelivery] { change { $0.role.removeAll() } }

  func startAdvertising(_ data: [String: Any]?) -> [PeripheralDelivery] {
    var (request, refusal): (AdvertisementRequest?, CBError?)
    do throws(CBError) {
      request = try AdvertisementRequest(data)
    } catch {
      refusal = error
    }
    return change { shared in
      let effects = shared.role.startAdvertising(refusal: refusal)
      // A call that is refused changes nothing.
      if let request, !effects.commands.isEmpty { shared.advertisement = request }
      return effects
    }
  }

  func stopAdvertising() -> [PeripheralDelivery] { change { $0.role.stopAdvertising() } }

  func respond(_ request: CBATTRequest, _ result: CBATTError.Code) {
    let code = result == .success ? nil : ATTErrorCode(rawValue: UInt8(clamping: result.rawValue))
    // A response is not reported.
    _ = change {
      $0.role.respond(request.central.peer, request.number, code, request.value.map { Array($0) } ?? [])
    }
  }

  /// - Returns: whether it is sent, or will be
  func update(_ value: Data, _ characteristic: CBMutableCharacteristic, _ centrals: [CBCentral]?) -> Bool {
    var isTaken = false
    // An update is not reported.
    _ = change { shared in
      let place = shared.objects.place(of: characteristic)
      let (result, effects) = shared.role.update(Array(value), place, to: centrals?.map(\.peer))
      isTaken = result
      return effects
    }
    return isTaken
  }

  // MARK: Events

  /// An event that concerns the role alone.
  func change(role body: (inout PeripheralRole) -> PeripheralRole.Effects) -> [PeripheralDelivery] {
    change { body(&$0.role) }
  }

  func connected(_ client: PeerIdentity, mtu: Int) {
    shared.withLock { $0.objects.central(client).take(mtu: mtu) }
  }

  func left(_ client: PeerIdentity) -> [PeripheralDelivery] {
    let deliveries = change { $0.role.left(client) }
    shared.withLock { $0.objects.left(client) }
    return deliveries
  }

  /// Takes up the services and the advertisement of an earlier run of the program.
  ///
  /// - Returns: the objects of the services
  func restore(_ services: [ServiceDefinition], _ advertisement: AdvertisementRequest?) -> [CBMutableService]
  {
    shared.withLock { shared in
      let made = services.map { definition in
        let included = definition.included.compactMap { shared.objects.service($0) }
        let service = CBMutableService(definition, included: included)
        shared.objects.add(service, definition)
        return service
      }
      if let advertisement { shared.advertisement = advertisement }
      shared.role.restore(services.map(\.number), advertises: advertisement != nil)
      return made
    }
  }

  // MARK: Effects

  private func change(_ body: (inout Shared) -> PeripheralRole.Effects) -> [PeripheralDelivery] {
    let (deliveries, misuse) = shared.withLock { shared in
      let effects = body(&shared)
      // Under the lock, so that commands have the order of the changes.
      for command in effects.commands { perform(command, shared) }
      let deliveries = effects.reports.compactMap { shared.objects.delivery($0) }
      shared.objects.keep { shared.role.knows($0) }
      return (deliveries, effects.misuse)
    }
    if let misuse { reportMisuse(misuse) }
    return deliveries
  }

  private func perform(_ command: PeripheralRole.Command, _ shared: Shared) {
    let core = core
    switch command {
    case .add(let number):
      guard let definition = shared.objects.definition(number) else { return }
      BluetoothActor.run { core.add(definition) }
    case .remove(let number): BluetoothActor.run { core.remove(number) }
    case .advertise(let number, let isReported):
      let request = shared.advertisement
      BluetoothActor.run { await core.advertise(request, number: number, isReported: isReported) }
    case .stopAdvertising: BluetoothActor.run { core.stopAdvertising() }
    case .send(let value, let place, let clients):
      BluetoothActor.run { core.send(value, place, to: clients) }
    case .answer(let client, let number, let code, let value):
      BluetoothActor.run { core.answer(client, number, code, value) }
    }
  }
}
