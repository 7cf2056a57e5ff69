import GATTClient
import HCI
import HaloBluetoothCore

/// Why an operation on an adapter, a link or a peripheral failed: the error of ``Central`` and ``GATTLink``, so that one
/// `catch` serves a program that connects, discovers and reads.
package enum GAPError: Error, Hashable, Sendable {
  /// Why the adapter failed, there is no link, or its properties are not changed.
  case hci(HCIError)
  /// Why an operation on a peripheral failed: `.att(.closed)` after the loss of the link.
  case gatt(GATTError)
}

extension GAPError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .hci(let error): error.description
    case .gatt(let error): error.description
    }
  }
}

/// The value of an expression, whose `HCIError` is thrown as a ``GAPError``.
@BluetoothActor
package func wrappingHCIError<Value>(
  _ work: @autoclosure @BluetoothActor () async throws(HCIError) -> Value
) async throws(GAPError) -> Value {
  do throws(HCIError) {
    return try await work()
  } catch {
    throw .hci(error)
  }
}
