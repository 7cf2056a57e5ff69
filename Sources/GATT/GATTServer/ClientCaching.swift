import ATT

/// The state of a client that caches attributes: whether it knows of their last change, and the requests that are admitted
/// meanwhile (Core Specification Vol 3, Part G, 2.5.2.1).
struct ClientCaching {
  private enum Awareness {
    case aware
    /// Attributes have changed.
    case unaware
    /// A refusal or the Database Hash has informed it: with its next request it is aware.
    case changeUnawareNotified
  }

  /// The value that the client has written to Client Supported Features.
  private(set) var features: [UInt8] = [0]
  private var awareness = Awareness.aware

  private static let robustCaching: UInt8 = 1
  private var isRobust: Bool { (features.first ?? 0) & Self.robustCaching != 0 }

  /// Takes a write to Client Supported Features.
  ///
  /// - Returns: why it is refused; nil if it is not: a feature that the client has turned on stays on (7.2)
  mutating func setFeatures(_ value: [UInt8]) -> ATTErrorCode? {
    guard !value.isEmpty else { return .invalidAttributeValueLength }
    let clears = features.enumerated().contains { index, old in
      old & ~(index < value.count ? value[index] : 0) != 0
    }
    guard !clears else { return .valueNotAllowed }
    features = value
    return nil
  }

  /// The features of a bonded client, which it does not write again.
  mutating func restore(_ features: [UInt8]) {
    if self.features.allSatisfy({ $0 == 0 }) { self.features = features }
  }

  /// Whether the client knows the attributes as they are.
  var knowsTable: Bool { awareness == .aware }

  /// Attributes were added or removed.
  mutating func databaseChanged() { awareness = .unaware }

  /// The client has confirmed the indication of Service Changed.
  mutating func confirmedChange() { awareness = .aware }

  /// Whether commands are carried out, and values sent.
  var isChangeAware: Bool { !isRobust || awareness == .aware }

  /// Whether a request is carried out; else it is refused as Database Out Of Sync, once.
  mutating func admits(_ request: any ATTPDU) -> Bool {
    if awareness == .changeUnawareNotified { awareness = .aware }
    guard isRobust, awareness == .unaware else { return true }
    if readsHash(request) {
      awareness = .changeUnawareNotified
      return true
    }
    if Self.discovers(request) { return true }
    awareness = .changeUnawareNotified
    return false
  }

  private func readsHash(_ request: any ATTPDU) -> Bool {
    guard let read = request as? ATTReadByTypeRequest else { return false }
    return read.type == GATTUUID.databaseHash && read.range == .all
  }

  /// Whether a request finds attributes, and uses none.
  private static func discovers(_ request: any ATTPDU) -> Bool {
    switch request {
    case is ATTExchangeMTURequest, is ATTFindInformationRequest, is ATTFindByTypeValueRequest,
      is ATTReadByGroupTypeRequest:
      true
    case let read as ATTReadByTypeRequest:
      read.type == GATTUUID.include || read.type == GATTUUID.characteristic
    default: false
    }
  }
}
