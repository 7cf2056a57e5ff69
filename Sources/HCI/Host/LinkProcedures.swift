import HaloBluetoothCore

extension LEConnection {
  /// A property of the link has changed, or could not be changed.
  package enum Change: Hashable, Sendable {
    case parameters(LinkParameters)
    case phys(LinkPHYs)
    case dataLengths(DataLengths)
    /// Encryption is on, or off.
    case encryption(Bool)
    /// A preference was not requested, as one of the link layers lacks these features.
    case notSupported(LEFeatures, byPeer: Bool)
    /// The controller rejected a preference.
    case rejected(StackError)
  }

  /// How long the link layers may take to agree on the lengths of packets.
  private static let lengtheningTime = Duration.seconds(2)

  /// How long the controller may take to answer such a command. It counts as working if it does not: links are usable
  /// without, and some controllers that are made of software claim commands that they ignore. All other commands wait in
  /// the meantime.
  private static let commandDeadline = Duration.milliseconds(500)

  /// Requests other connection parameters.
  ///
  /// - Parameters:
  ///   - parameters: the interval, latency and timeout to request
  ///   - completion: called exactly once, with the parameters in force
  package func update(
    _ parameters: ConnectionParameters,
    completion: @escaping (Result<LinkParameters, StackError>) -> Void = { _ in }
  ) {
    perform(updates, completion) {
      LEConnectionUpdate {
        $0.handle = handle
        $0.parameters = parameters
      }
    }
  }

  /// Waits for parameters that the central has agreed to: it updates the link.
  package func awaitUpdate(_ completion: @escaping (Result<LinkParameters, StackError>) -> Void) {
    guard isConnected else { return completion(.failure(failure ?? .notConnected)) }
    _ = updates.add(LEConnectionUpdate.opcode, completion)
  }

  /// Requests PHYs, for both directions.
  ///
  /// - Parameters:
  ///   - phys: the PHYs that may be used; empty for no preference
  ///   - completion: called exactly once, with the PHYs in use: the peer may prefer to keep those that were used
  package func setPHYs(_ phys: LEPHYs, completion: @escaping (Result<LinkPHYs, StackError>) -> Void) {
    perform(phyUpdates, completion) {
      LESetPHY {
        $0.handle = handle
        $0.preferred.transmit = phys.isEmpty ? nil : phys
        $0.preferred.receive = $0.preferred.transmit
      }
    }
  }

  /// Requests longer or shorter packets to send. ``onChange`` reports the lengths in force, if they change.
  ///
  /// - Parameters:
  ///   - octets: the maximum payload, 27 to 251 bytes
  ///   - completion: called exactly once, when the controller has accepted or rejected it
  package func setDataLength(_ octets: Int, completion: @escaping (Result<Void, StackError>) -> Void) {
    guard let links, isConnected else { return completion(.failure(failure ?? .notConnected)) }
    let isCoded = phys.transmit == .leCoded || preferences.phys?.contains(.leCoded) == true
    let command = LESetDataLength {
      $0.handle = handle
      $0.transmit = DataLength(octets: octets, on: isCoded ? .leCoded : .le1M)
    }
    endOfLengthening = Instant(nanoseconds: .max)
    links.commands.send(command, deadline: Self.commandDeadline, allowsTimeout: true) { [self] result in
      switch result {
      case .failure(let error):
        endOfLengthening = nil
        note(error)
      // No event follows if the lengths stay as they are; one that has come already has ended it.
      case .success where endOfLengthening != nil:
        endOfLengthening = links.timers.now + Self.lengtheningTime
      case .success: break
      }
      completion(result.map { _ in })
    }
  }

  func perform<Command: HCIStatusCommand, Value>(
    _ waiters: EventWaiters<Value>, _ completion: @escaping (Result<Value, StackError>) -> Void,
    _ makeCommand: () -> Command
  ) {
    guard let links, isConnected else { return completion(.failure(failure ?? .notConnected)) }
    let id = waiters.add(Command.opcode, completion)
    links.commands.send(makeCommand(), deadline: Self.commandDeadline, allowsTimeout: true) { [self] result in
      guard case .failure(let error) = result else { return }
      waiters.end(id, .failure(error))
      note(error)
    }
  }

  private func note(_ error: StackError) {
    links?.note(error, on: self)
  }

  /// Requests the preferences that both link layers support. Commands and data do not wait for each other, so that the
  /// first request of the program is not delayed.
  ///
  /// - Parameter features: those of the controller
  func requestPreferences(_ features: LEFeatures) {
    guard isConnected, !isEnding, let links, let peerFeatures = remoteFeatures else { return }
    let report = { [self] (error: StackError) -> Void in onChange?(.rejected(error)) }
    if let length = preferences.dataLength, !leftOut.contains(.updateDataLength),
      !links.unansweredCommands.contains(LESetDataLength.opcode),
      supports(.dataPacketLengthExtension, features, peerFeatures)
    {
      setDataLength(length) { if case .failure(let error) = $0 { report(error) } }
    }
    if let phys = preferences.phys, !leftOut.contains(.updatePHY),
      !links.unansweredCommands.contains(LESetPHY.opcode)
    {
      let others = phys.intersection(LEPHYs(features)).intersection(LEPHYs(peerFeatures)).subtracting(.le1M)
      guard !others.isEmpty || phys == .le1M else {
        _ = supports(phys.features, features, peerFeatures)
        return
      }
      setPHYs(others.union(phys.intersection(.le1M))) {
        if case .failure(let error) = $0 { report(error) }
      }
    }
  }

  /// Whether both link layers support features; reports it if not.
  private func supports(_ wanted: LEFeatures, _ own: LEFeatures, _ peers: LEFeatures) -> Bool {
    guard own.isSuperset(of: wanted) else {
      onChange?(.notSupported(wanted.subtracting(own), byPeer: false))
      return false
    }
    guard peers.isSuperset(of: wanted) else {
      onChange?(.notSupported(wanted.subtracting(peers), byPeer: true))
      return false
    }
    return true
  }

  // MARK: Events

  func receive(_ event: LEConnectionUpdateComplete) {
    guard event.status == .success else {
      return updates.receive(.failure(.commandFailed(LEConnectionUpdate.opcode, event.status)))
    }
    parameters = event.parameters
    updates.receive(.success(event.parameters))
    onChange?(.parameters(event.parameters))
  }

  func receive(_ event: LEPHYUpdateComplete) {
    guard event.status == .success else {
      return phyUpdates.receive(.failure(.commandFailed(LESetPHY.opcode, event.status)))
    }
    let isNew = event.phys != phys
    phys = event.phys
    phyUpdates.receive(.success(event.phys))
    if isNew { onChange?(.phys(event.phys)) }
  }

  /// The procedure that was requested and is not done.
  func procedureUnderWay(at time: Instant) -> LinkProcedure? {
    if phyUpdates.isWaiting { return .updatePHY }
    return endOfLengthening.map { time < $0 } ?? false ? .updateDataLength : nil
  }

  func receive(_ event: LEDataLengthChange) {
    endOfLengthening = nil
    guard event.lengths != dataLengths else { return }
    dataLengths = event.lengths
    onChange?(.dataLengths(event.lengths))
  }
}

extension LEConnection.Change: CustomStringConvertible {
  package var description: String {
    switch self {
    case .parameters(let parameters): "\(parameters)"
    case .phys(let phys): "PHY \(phys)"
    case .dataLengths(let lengths): "data length \(lengths)"
    case .encryption(let isOn): isOn ? "encrypted" : "no longer encrypted"
    case .notSupported(let features, let byPeer):
      "\(byPeer ? "the peer" : "the controller") does not support \(features.names.joined(separator: ", "))"
    case .rejected(let error): "\(error)"
    }
  }
}
