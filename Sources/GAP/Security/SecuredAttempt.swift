import HaloBluetoothCore

/// An attempt to connect, which is complete when the link to a bonded peer is encrypted.
@BluetoothActor
final class SecuredAttempt {
  private var completion: ((Result<GATTLink, StackError>) -> Void)?
  /// The link that is being encrypted.
  private var link: GATTLink?

  init(_ completion: @escaping (Result<GATTLink, StackError>) -> Void) { self.completion = completion }

  /// There is a link, or there is none.
  func take(_ result: Result<GATTLink, StackError>) {
    guard case .success(let link) = result, link.link.isBonded, completion != nil else { return end(result) }
    self.link = link
    link.encryptFirst { result in
      self.link = nil
      guard case .failure(let error) = result else { return self.end(.success(link)) }
      link.end()
      // Before that, the controller would refuse another attempt.
      link.whenDisconnected { _ in self.end(.failure(error)) }
    }
  }

  /// The caller gives up.
  func cancel() {
    guard let link else { return }
    end(.failure(.cancelled))
    link.end()
  }

  private func end(_ result: Result<GATTLink, StackError>) { completion.take()?(result) }
}
