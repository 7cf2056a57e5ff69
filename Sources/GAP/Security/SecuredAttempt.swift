import HCI
import HaloBluetoothCore

/// An attempt to connect, which is complete when a link that has to be encrypted is: one to a bonded peer, or to one that the
/// caller pairs with.
@BluetoothActor
final class SecuredAttempt {
  private var completion: ((Result<GATTLink, StackError>) -> Void)?
  /// The link that is being encrypted.
  private var link: GATTLink?
  private let deadline: Instant
  private let encryption: FirstEncryption
  /// A link that was established late has at least this long: encryption takes a few connection events.
  private static let shortestTime = Duration.seconds(5)

  /// - Parameters:
  ///   - deadline: when the attempt has to be complete. A peer that does not answer would be waited for for 40 s, by the
  ///     controller
  ///   - encryption: whether the link is encrypted
  ///   - completion: called once
  init(
    by deadline: Instant, _ encryption: FirstEncryption,
    _ completion: @escaping (Result<GATTLink, StackError>) -> Void
  ) {
    self.deadline = deadline
    self.encryption = encryption
    self.completion = completion
  }

  /// There is a link, or there is none.
  func take(_ result: Result<GATTLink, StackError>) {
    guard case .success(let link) = result, completion != nil,
      encryption.applies(isBonded: link.link.isBonded)
    else {
      return end(result)
    }
    self.link = link
    let timers = link.timers
    let timer = timers.schedule(at: max(deadline, timers.now + Self.shortestTime)) {
      self.encrypted(link, .failure(.encryptionTimedOut(link.peer)))
    }
    link.encryptFirst { result in
      timers.cancel(timer)
      self.encrypted(link, result)
    }
  }

  private func encrypted(_ link: GATTLink, _ result: Result<Void, StackError>) {
    guard self.link != nil else { return }
    self.link = nil
    guard case .failure(let error) = result else { return end(.success(link)) }
    link.end()
    // Before that, the controller would refuse another attempt.
    link.whenDisconnected { _ in self.end(.failure(error)) }
  }

  /// The caller gives up.
  func cancel() {
    guard let link else { return }
    end(.failure(.cancelled))
    link.end()
  }

  private func end(_ result: Result<GATTLink, StackError>) { completion.take()?(result) }
}
