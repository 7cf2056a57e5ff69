import HaloBluetoothCore

/// The bonds of a radio on which all devices are simulated: they last as long as the radio.
@BluetoothActor
package final class SimulatedBonds: BondStore {
  package private(set) var bonds: [Bond] = []

  package init() {}

  package func store(_ bond: Bond, completion: @escaping (BondStoreError?) -> Void) {
    bonds.removeAll { $0.peer == bond.peer && $0.own == bond.own }
    bonds.append(bond)
    completion(nil)
  }

  package func finish() async {}

  package func remove(_ peer: BluetoothAddress) { bonds.removeAll { $0.peer == peer } }
}
