import ATT
import HaloBluetoothCore
import HaloGATT

/// What the server sends on its own (Core Specification Vol 3, Part F, 3.4.7).
extension ServerBearer {
  /// How long a client may take to confirm an indication (3.3.3).
  package static let confirmationLimit = ATTBearer.transactionTimeout

  /// What the client has configured for the characteristic with its value at this handle.
  package func configuration(of value: AttributeHandle) -> ClientConfiguration {
    configurations[value, default: []]
  }

  /// The values that the client wants to be sent, by their handles.
  package var subscriptions: [AttributeHandle: ClientConfiguration] { configurations }

  /// Notifies a value if the client has asked for that. It is cut to the MTU less 3 bytes.
  @discardableResult
  package func notify(_ value: [UInt8], of handle: AttributeHandle) -> Delivery {
    guard wants(.notify, handle) else { return .notSubscribed }
    send(ATTHandleValueNotification(handle, value: Array(value.prefix(mtu - 3))))
    return .sent
  }

  /// Indicates a value if the client has asked for that; it waits until the client has confirmed earlier ones. If the
  /// client does not confirm within ``confirmationLimit``, the bearer ends.
  @discardableResult
  package func indicate(_ value: [UInt8], of handle: AttributeHandle) -> Delivery {
    guard wants(.indicate, handle) else { return .notSubscribed }
    guard indications.append(value, of: handle) else { return .full }
    let isFree = indications.open == nil
    sendIndication()
    return isFree ? .sent : .queued
  }

  /// Indicates to a client that has asked for it that attributes may have been added or removed (Part G, 7.1). Several
  /// changes are indicated as one if the client is slow.
  package func indicateServiceChanged(_ range: HandleRange) {
    guard let handle = serviceChanged, wants(.indicate, handle) else { return }
    indications.add(change: range)
    sendIndication()
  }

  private var serviceChanged: AttributeHandle? { database.handles(of: GATTUUID.serviceChanged).first }

  /// Whether a value is sent to the client. A value that it may not read is not sent (Part F, 3.2.5).
  private func wants(_ kind: ClientConfiguration, _ handle: AttributeHandle) -> Bool {
    guard !isClosed, configurations[handle]?.contains(kind) == true, let entry = database.entry(handle) else {
      return false
    }
    return security.refusal(of: entry.attribute.readSecurity) == nil
  }

  /// One indication at a time: the next one waits for the confirmation.
  private func sendIndication() {
    guard indications.open == nil, !isClosed else { return }
    if let handle = serviceChanged, let range = indications.takeChanges() {
      let value = IncludeDeclaration(range, nil).bytes
      return sendIndication(value, of: handle)
    }
    while let (handle, value) = indications.takeNext() {
      // The client may have unsubscribed since.
      if wants(.indicate, handle) { return sendIndication(value, of: handle) }
    }
  }

  private func sendIndication(_ value: [UInt8], of handle: AttributeHandle) {
    let deadline = timers.schedule(after: Self.confirmationLimit) { [weak self] in
      self?.bearer?.indicationTimedOut()
    }
    indications.sent(handle, deadline)
    send(ATTHandleValueIndication(handle, value: Array(value.prefix(mtu - 3))))
  }

  func confirm() {
    guard let (handle, deadline) = indications.confirm() else {
      onEvent?(.unexpectedConfirmation)
      return
    }
    timers.cancel(deadline)
    onEvent?(.confirmed(handle))
    sendIndication()
  }

  /// Attributes in a range were added or removed.
  func databaseChanged(_ range: HandleRange) {
    guard !isClosed else { return }
    for value in configurations.keys where database.entry(value) == nil { configurations[value] = nil }
    if let longValue, database.entry(longValue.handle) == nil { self.longValue = nil }
    indications.keep { configurations[$0] != nil }
    indicateServiceChanged(range)
  }
}
