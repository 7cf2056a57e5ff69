import HaloBluetoothCore

/// Bonds with simulated devices, which last as long as the process: those devices do not last longer.
package final class ProcessBonds: BondStore {
  package private(set) var bonds: [Bond] = []

  package init() {}

  package func store(_ bond: Bond) {
    bonds.removeAll { $0.peer == bond.peer && $0.own == bond.own }
    bonds.append(bond)
  }

  package func remove(_ peer: BluetoothAddress) { bonds.removeAll { $0.peer == peer } }
}
