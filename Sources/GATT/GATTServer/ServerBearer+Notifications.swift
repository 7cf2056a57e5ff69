import ATT

/// Notifications and indications (Core Specification Vol 3, Part F, 3.4.7).
extension ServerBearer {
  /// How long a client may take to confirm an indication (3.3.3).
  package static let confirmationLimit = ATTBearer.transactionTimeout

  /// The client's configuration of the characteristic with its value at this handle.
  package func configuration(of value: AttributeHandle) -> ClientConfiguration {
    configurations[value] ?? []
  }

  /// Whether the client has subscribed to values. Service Changed does not count: most clients subscribe to it, and few
  /// services change.
  package var hasSubscriptions: Bool {
    configurations.keys.contains { $0 != serviceChanged && !configuration(of: $0).isEmpty }
  }

  /// Sends a value in the way that the client has asked for, as ``notify(_:of:replacesWaiting:)`` or
  /// ``indicate(_:of:replacesWaiting:)``; a client that has asked for both is notified.
  package func push(_ value: [UInt8], of handle: AttributeHandle, replacesWaiting: Bool = false) -> Delivery {
    configuration(of: handle).contains(.notify)
      ? notify(value, of: handle, replacesWaiting: replacesWaiting)
      : indicate(value, of: handle, replacesWaiting: replacesWaiting)
  }

  /// Notifies a value if the client has asked for that; it waits while the link has no room. It is cut to the MTU less
  /// 3 bytes, and to the 512 bytes that a value may have.
  ///
  /// - Parameters:
  ///   - value: the value
  ///   - handle: that of the value in the table
  ///   - replacesWaiting: whether an older value that waits is not sent: for a client that wants to know how things are, not how
  ///     they were
  @discardableResult
  package func notify(
    _ value: [UInt8], of handle: AttributeHandle, replacesWaiting: Bool = false
  ) -> Delivery {
    guard wants(.notify, handle) else { return .notSubscribed }
    if notifications.isEmpty, hasRoom() {
      sendNotification(value, of: handle)
      return .sent
    }
    return taken(notifications.append(value, of: handle, replacing: replacesWaiting))
  }

  /// Indicates a value if the client has asked for that; it waits until the client has confirmed earlier ones. If the
  /// client does not confirm within ``confirmationLimit``, the bearer ends.
  ///
  /// - Parameters:
  ///   - value: the value
  ///   - handle: that of the value in the table
  ///   - replacesWaiting: whether an older value that waits is not sent
  @discardableResult
  package func indicate(
    _ value: [UInt8], of handle: AttributeHandle, replacesWaiting: Bool = false
  ) -> Delivery {
    guard wants(.indicate, handle) else { return .notSubscribed }
    let isFree = indications.open == nil
    let delivery = taken(indications.append(value, of: handle, replacing: replacesWaiting))
    guard isFree, delivery == .queued else { return delivery }
    sendIndication()
    return .sent
  }

  private func taken(_ isTaken: Bool) -> Delivery {
    if !isTaken { needsReadyCallback = true }
    return isTaken ? .queued : .full
  }

  /// The link has room again.
  package func roomAvailable() {
    while !isClosed, hasRoom(), let (handle, value) = notifications.takeNext() {
      // The client may have unsubscribed since.
      if wants(.notify, handle) { sendNotification(value, of: handle) }
    }
    guard notifications.isEmpty else { return }
    ready()
    onSent.take()?()
  }

  /// Calls `handler` once, when no notification waits for room on the link any more, or the link has ended.
  package func whenSent(_ handler: @escaping () -> Void) {
    if notifications.isEmpty { handler() } else { onSent = handler }
  }

  private func ready() {
    guard needsReadyCallback, !isClosed else { return }
    needsReadyCallback = false
    onReady?()
  }

  private func sendNotification(_ value: [UInt8], of handle: AttributeHandle) {
    bearer?.notify(Self.cut(value), of: handle)
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
    guard !isClosed, configurations[handle]?.contains(kind) == true,
      let needed = database.readSecurity(of: handle), caching.isChangeAware || handle == serviceChanged
    else { return false }
    return security.refusal(of: needed) == nil
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
    let deadline = timers.schedule(after: Self.confirmationLimit) { [self] in
      bearer?.indicationTimedOut()
    }
    indications.sent(handle, deadline)
    send(ATTHandleValueIndication(handle, value: Self.cut(value)))
  }

  /// An MTU may have room for more than a value has (zephyrproject-rtos/zephyr 117275: some clients drop longer ones).
  private static func cut(_ value: [UInt8]) -> [UInt8] {
    value.count <= ATTBearer.maximumValueLength ? value : Array(value.prefix(ATTBearer.maximumValueLength))
  }

  func confirm() {
    guard let (handle, deadline) = indications.confirm() else {
      onEvent?(.unexpectedConfirmation)
      return
    }
    timers.cancel(deadline)
    if handle == serviceChanged, !indications.hasChanges {
      caching.confirmedChange()
      knownTable = database.fingerprint
      onRecordChange?()
    }
    onEvent?(.confirmed(handle))
    sendIndication()
    ready()
  }

  /// Attributes in a range were added or removed.
  func databaseChanged(_ range: HandleRange) {
    guard !isClosed else { return }
    caching.databaseChanged()
    for value in configurations.keys where database.entry(value) == nil { configurations[value] = nil }
    longValues.removeAll { database.entry($0.handle) == nil }
    notifications.keep { configurations[$0] != nil }
    indications.keep { configurations[$0] != nil }
    // The record has the table that the client knows, also if it leaves before it learns of the change.
    onRecordChange?()
    indicateServiceChanged(range)
  }
}
