import HCI
import HaloBluetoothCore

/// An attempt to connect to a device whose address changes, at the one that it has now: the device is listened for, unless it
/// was just heard, and again if it does not answer at that address any more.
///
/// Public reports have both faults: a host that calls the identity, which nobody answers (espressif/esp-nimble 10), and one
/// that calls the last private address for ever, although the device has another one, or none (bluez/bluetooth-next 726).
@BluetoothActor
final class PrivatePeerAttempt {
  /// How long an address is called that was heard a moment ago.
  static let patience = Duration.seconds(10)

  private let central: Central
  private let request: ConnectionRequest
  private let end: Instant
  private let completion: OneShot<Result<any ATTLink, StackError>>
  /// Ends what is under way.
  private var cancelStep: () -> Void = {}

  init(
    _ central: Central, _ request: ConnectionRequest,
    completion: @escaping (Result<any ATTLink, StackError>) -> Void
  ) {
    self.central = central
    self.request = request
    self.completion = OneShot(completion)
    end = central.timers.now + request.deadline
  }

  func begin() {
    if let address = central.currentAddress(of: request.peer) { connect(at: address) } else { listen() }
  }

  func cancel() { finish(.failure(.cancelled)) }

  private func listen() {
    let scan = central.scan(.aggressive) { [self] device in
      guard device.address == request.peer, let address = central.currentAddress(of: request.peer) else {
        return
      }
      connect(at: address)
    }
    let timers = central.timers
    let deadline = timers.schedule(at: end) { [self] in
      finish(.failure(.peerNotFound(request.peer, seconds: request.deadline.inSeconds)))
    }
    cancelStep = {
      scan.cancel()
      timers.cancel(deadline)
    }
  }

  private func connect(at address: BluetoothAddress) {
    cancelStep()
    var call = request
    call.peer = address
    call.deadline = min(end - central.timers.now, Self.patience)
    cancelStep = central.adapter.connect(call) { [self] result in
      if case .failure(let error) = result, error.code == .peerNotFound, central.timers.now < end {
        central.forgetAddress(of: request.peer)
        return listen()
      }
      finish(result)
    }
  }

  private func finish(_ result: Result<any ATTLink, StackError>) {
    let cancel = cancelStep
    cancelStep = {}
    cancel()
    central.forgetAddress(of: request.peer)
    completion(result)
  }
}
