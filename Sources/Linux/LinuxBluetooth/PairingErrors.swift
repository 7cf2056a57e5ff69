import GAP
import HCI
import HaloBluetoothCore

/// Why the kernel has not secured a link. It pairs itself, and says little about a failure.
extension StackError {
  /// The pairings of the adapter are bluetoothd's: it refuses those that other programs begin, and its own keys are not shown.
  static func bluetoothdPairs(_ peer: BluetoothAddress) -> StackError {
    let address = peer.description.prefix { $0 != "/" }
    return StackError(
      .notOffered, .final,
      "bluetoothd pairs on this machine, and has no bond with \(peer) that suffices; pair with: bluetoothctl pair \(address)"
    )
  }

  static func kernelPairingFailed(_ peer: BluetoothAddress) -> StackError {
    StackError(
      .pairingFailed, .final,
      "pairing with \(peer) has failed: it has refused, or wants another way of pairing than the user of this side has; put it into its pairing mode, and remove its other bonds"
    )
  }

  static func endedWhileSecured(_ peer: BluetoothAddress, _ loss: LinkLoss) -> StackError {
    StackError(.pairingFailed, .link, "the link to \(peer) has ended before it was encrypted: \(loss)")
  }

  static func refusedHere(_ peer: BluetoothAddress) -> StackError {
    StackError(.pairingFailed, .final, "pairing with \(peer) was refused here; the link is ended")
  }

  static func shortKey(_ peer: BluetoothAddress, _ size: Int, minimum: Int) -> StackError {
    StackError(
      .pairingFailed, .final,
      "the key of \(peer) has \(size) bytes, and could be guessed: at least \(minimum) are required; the link is ended"
    )
  }

  static func weakerBond(_ peer: BluetoothAddress) -> StackError {
    StackError(
      .pairingFailed, .final,
      "\(peer) has paired again, less securely than before: its old bond is kept, and the link is ended; if it was reset, run: halo-raw bonds forget \(peer)"
    )
  }

  static func levelNotReached(_ peer: BluetoothAddress, _ level: LESecurityLevel?) -> StackError {
    let reached = level.map { "level \($0.rawValue)" } ?? "none"
    return StackError(
      .pairingFailed, .final,
      "the link to \(peer) has less security than it needs, which is \(reached); pair on a terminal, with a passkey or a comparison"
    )
  }

  /// The kernel prepares to pair only when it switches an adapter on that a program manages already (noble/bleno 31).
  static func notPreparedToPair(_ index: AdapterIndex, isSwitched: Bool) -> StackError {
    StackError(
      .notReady, .link,
      "the kernel was not prepared to pair when \(index) was switched on; "
        + (isSwitched
          ? "it is switched off and on: try again"
          : "other programs use it; switch it off and on: sudo btmgmt power off; sudo btmgmt power on"))
  }
}
