import HaloBluetoothCore

/// The bonds of a radio on which all devices are simulated: they last as long as the radio.
package final class SimulatedBonds: BondStore {
  package private(set) var bonds: [Bond] = []

  package init() {}

  package func store(_ bond: Bond) {
    bonds.removeAll { $0.peer == bond.peer && $0.own == bond.own }
    bonds.append(bond)
  }

  package func remove(_ peer: BluetoothAddress) { bonds.removeAll { $0.peer == peer } }
}
