import HaloBluetoothCore

/// The state of one advertisement as reported by a radio.
@BluetoothActor
package final class AdvertisingStatus {
  /// How long a controller may refuse before the refusal is reported to the program.
  package static let usualLimit = Duration.seconds(5)
  /// How long an answer is waited for: the radio may be creating a link, or be set up anew.
  static let longestWait = Duration.seconds(60)

  /// Why the radio does not advertise; nil if it does, if it has not answered, and if it need not. It is asked again, with longer
  /// and longer pauses, of ten seconds at most.
  package private(set) var refusal: StackError?
  /// Whether the radio has begun to advertise since it was asked, and has not refused it since.
  package private(set) var isOn = false
  /// Called with nil when the radio advertises, the first time and after a refusal; and with each new reason when it refuses to.
  package var onChange: ((StackError?) -> Void)?

  @BluetoothActor private struct Wait {
    let end: OneShot<Result<Void, StackError>>
    /// How long the radio may refuse; nil for no limit.
    let limit: Duration?
    let timers: Timers

    func refused(_ refusal: StackError) {
      guard let limit else { return }
      end.expire(after: refusal.isFinal ? .zero : limit, in: timers, with: .failure(.notReady))
    }
  }

  private var waits: [Wait] = []

  package init() {}

  /// The radio has begun to advertise, or has refused to.
  ///
  /// - Parameter refusal: the reason; nil if it advertises
  package func set(_ refusal: StackError?) {
    let (wasRefused, isNew) = (self.refusal != nil, refusal == nil ? !isOn : refusal != self.refusal)
    isOn = refusal == nil
    self.refusal = refusal
    if let refusal {
      for wait in waits where !wasRefused || refusal.isFinal { wait.refused(refusal) }
    } else {
      end(.success(()))
    }
    if isNew { onChange?(refusal) }
  }

  /// Nothing is to be advertised any more.
  package func clear() {
    isOn = false
    refusal = nil
    end(.failure(.cancelled))
  }

  /// Waits until the radio advertises.
  ///
  /// - Parameters:
  ///   - limit: how long a radio that refuses is asked again; nil for no limit
  ///   - timers: the clock of the limit
  /// - Throws: the last refusal; `.notReady` if the radio has not answered within `longestWait`; `.cancelled` after
  ///   ``clear()``, and if the task is cancelled
  package func untilOn(within limit: Duration?, in timers: Timers) async throws(StackError) {
    try await awaitCallback(unless: isOn) { (done: @escaping (Result<Void, StackError>) -> Void) in
      let end = OneShot<Result<Void, StackError>> { [weak self] result in
        self?.waits.removeAll { !$0.end.isPending }
        guard case .failure(.notReady) = result, let refusal = self?.refusal else {
          return done(result)
        }
        done(.failure(refusal))
      }
      let wait = Wait(end: end, limit: limit, timers: timers)
      waits.append(wait)
      if limit != nil { end.expire(after: Self.longestWait, in: timers, with: .failure(.notReady)) }
      if let refusal { wait.refused(refusal) }
      return { end(.failure(.cancelled)) }
    }
  }

  private func end(_ result: Result<Void, StackError>) {
    for wait in waits { wait.end(result) }
  }
}

extension StackError {
  /// Whether the same advertisement will be refused a moment later, too.
  fileprivate var isFinal: Bool {
    switch code {
    case .featureNotSupported, .notOffered, .noBluetooth, .missingPrivilege: true
    default: false
    }
  }
}
