import HaloBluetoothCore

/// The bonds of a radio on which all devices are simulated: they last as long as the radio.
@BluetoothActor
package final class SimulatedBonds: BondStore {
  package private(set) var bonds: [Bond] = []

  package init() {}

  package func check() {}

  package func make(_ change: BondChange, completion: @escaping (Result<Bond?, BondStoreError>) -> Void) {
    completion(Result { () throws(BondStoreError) in try change.make(in: &bonds) })
  }

  package func finish() async {}

  package func remove(_ peer: BluetoothAddress) { bonds.removeAll { $0.peer == peer } }
}
