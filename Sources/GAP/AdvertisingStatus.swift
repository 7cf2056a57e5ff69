import HCI
import HaloBluetoothCore

/// What a radio has said of one advertisement.
@BluetoothActor
package final class AdvertisingStatus {
  /// How long a program waits for a controller that refuses, before it is told.
  package static let usualLimit = Duration.seconds(5)

  /// Why the radio does not advertise; nil if it does, if it has not answered, and if it need not. It is asked again, with longer
  /// and longer pauses, of ten seconds at most.
  package private(set) var refusal: GAPError?
  /// Whether the radio has begun to advertise since it was asked, and has not refused it since.
  package private(set) var isOn = false
  /// Called with nil when the radio advertises, the first time and after a refusal; and with each new reason when it refuses to.
  package var onChange: ((GAPError?) -> Void)?

  private var waits: [OneShot<Result<Void, GAPError>>] = []

  package init() {}

  /// The radio has begun to advertise, or has refused to.
  ///
  /// - Parameter refusal: the reason; nil if it advertises
  package func set(_ refusal: GAPError?) {
    let isNew = refusal == nil ? !isOn : refusal != self.refusal
    isOn = refusal == nil
    self.refusal = refusal
    if isOn {
      end(.success(()))
    } else if let refusal, !refusal.mayPass {
      end(.failure(refusal))
    }
    if isNew { onChange?(refusal) }
  }

  /// Nothing is to be advertised any more.
  package func clear() {
    isOn = false
    refusal = nil
    end(.failure(.hci(.cancelled)))
  }

  /// Waits until the radio advertises.
  ///
  /// - Parameter limit: how long a controller that refuses is asked again; nil for no limit
  /// - Throws: the last refusal; `.hci(.notReady)` if the radio has not answered; `.hci(.cancelled)` after ``clear()``, and if
  ///   the task is cancelled
  package func untilOn(within limit: Duration?, in timers: Timers) async throws(GAPError) {
    guard !isOn else { return }
    if let refusal, !refusal.mayPass { throw refusal }
    try await awaitCallback { (done: @escaping (Result<Void, GAPError>) -> Void) in
      let wait = OneShot<Result<Void, GAPError>> { [weak self] result in
        guard case .failure(.hci(.notReady)) = result, let refusal = self?.refusal else {
          return done(result)
        }
        done(.failure(refusal))
      }
      waits.append(wait)
      if let limit { wait.expire(after: limit, in: timers, with: .failure(.hci(.notReady))) }
      return { wait(.failure(.hci(.cancelled))) }
    }
  }

  private func end(_ result: Result<Void, GAPError>) {
    let ended = waits
    waits = []
    for wait in ended { wait(result) }
  }
}

extension GAPError {
  /// Whether the same advertisement may be accepted a moment later: a controller refuses what its state does not allow.
  fileprivate var mayPass: Bool {
    if case .hci(.commandFailed) = self { true } else { false }
  }
}
