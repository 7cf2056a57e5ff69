import RingLink

extension BluetoothError {
  /// What an error of a ring means to a program.
  package init(_ error: RingError) {
    if case .bluetooth(let error) = error {
      self.init(error)
      return
    }
    let code: Code =
      switch error {
      case .notFound, .onlyPossible, .severalFound: .notFound
      case .notARing, .notOffered, .noBulkService: .notSupported
      case .refused, .notTaken, .measurement, .streamRefused, .countedStream: .refused
      case .notAnswered, .noData, .sportEnded, .stillConnected: .timedOut
      case .malformed, .malformedBulk, .incomplete, .damaged: .peerMisbehaved
      case .invalidSetting, .dangerous: .invalidValue
      case .disconnected: .linkLost
      case .cancelled: .cancelled
      case .bluetooth: .refused
      }
    self.init(code, error.description)
  }
}
