/// The connection of a manager to one peripheral, as a value: what the program wants, and the state of the link. Calls of the
/// program and events of the loop go in; commands for the loop, and reports for the delegate, come out.
///
/// ```
/// none -> establishing -> established     connect, established
///   ^          |               |
///   |          v               v          cancel; the adapter is switched off
///   +------ ending <-----------+
///             |  next: a connect that was called in between begins when the link has ended
///             +-> establishing
/// ```
///
/// The loop has one attempt at a time. It answers each ``Command/begin(_:_:)`` with one ``Ending``, after
/// ``established(_:)`` or without. The delegate is called after each call of the program that has an effect, and once for
/// each link and its end.
package struct ManagedConnection: Sendable {
  package struct Options: Hashable, Sendable {
    /// How long to wait before the connection is begun.
    package var delay = Duration.zero
    /// Whether a link that the peripheral ends is established again.
    package var reconnects = false
  }

  /// A command for the loop.
  package enum Command: Sendable {
    case begin(PeripheralLink, Options)
    /// Ends a link, or gives up an attempt; nothing if it has ended.
    case end(PeripheralLink)
  }

  /// How an attempt has ended.
  package enum Ending: Sendable {
    /// There was no link.
    case failed(any Error & Sendable, byAdapter: Bool)
    /// There was no link: it was given up, or the adapter was switched off.
    case givenUp
    /// The link was ended by this program, without an error if it has asked for it.
    case ended((any Error & Sendable)?)
    case endedByPeripheral(any Error & Sendable)
    case endedByAdapter(any Error & Sendable)

    /// Whether the adapter has ended a connection that the program wants.
    package var isOfAdapter: Bool {
      switch self {
      case .failed(_, let byAdapter): byAdapter
      case .endedByAdapter: true
      case .givenUp, .ended, .endedByPeripheral: false
      }
    }

    fileprivate var error: (any Error & Sendable)? {
      switch self {
      case .givenUp: nil
      case .ended(let error): error
      case .failed(let error, _), .endedByPeripheral(let error), .endedByAdapter(let error): error
      }
    }
  }

  /// A report for the delegate.
  package enum Report: Sendable {
    case connected
    case failed(any Error & Sendable)
    case disconnected(isReconnecting: Bool, (any Error & Sendable)?)
  }

  private enum Link {
    case none
    /// Restored after a restart of the program. It begins when the adapter can be used.
    case restored(Options)
    case establishing(PeripheralLink, Options)
    case established(PeripheralLink, Options)
    /// Neither the program nor the peripheral can use it any more. Its end is reported if the program has asked for it, and
    /// not if the adapter was switched off.
    case ending(PeripheralLink, isReported: Bool, next: Options?)
  }

  private var link = Link.none

  package init() {}

  package var state: CBPeripheralState {
    switch link {
    case .none, .ending(_, isReported: false, next: nil): .disconnected
    case .restored, .establishing, .ending(_, _, next: _?): .connecting
    case .established: .connected
    case .ending(_, isReported: true, next: nil): .disconnecting
    }
  }

  /// Whether the loop has an attempt, or will get one.
  package var isIdle: Bool { if case .none = link { true } else { false } }

  // MARK: Calls of the program

  package mutating func connect(_ options: Options) -> (Command?, Report?) {
    switch link {
    case .none: return (begin(options), nil)
    case .restored: link = .restored(options)
    case .establishing(let driver, _): link = .establishing(driver, options)
    case .established(let driver, _):
      link = .established(driver, options)
      return (nil, .connected)
    case .ending(let driver, let isReported, _): link = .ending(driver, isReported: isReported, next: options)
    }
    return (nil, nil)
  }

  package mutating func cancel() -> (Command?, Report?) {
    switch link {
    case .none: return (nil, nil)
    case .restored:
      link = .none
      return (nil, .disconnected(isReconnecting: false, nil))
    case .establishing(let driver, _), .established(let driver, _):
      link = .ending(driver, isReported: true, next: nil)
      return (.end(driver), nil)
    case .ending(let driver, let isReported, let next):
      link = .ending(driver, isReported: isReported || next != nil, next: nil)
      return (nil, nil)
    }
  }

  // MARK: The adapter

  /// Takes up a connection that an earlier run of the program wanted.
  package mutating func restore(_ options: Options) {
    if case .none = link { link = .restored(options) }
  }

  /// The adapter can be used: restored connections begin.
  package mutating func powerOn() -> Command? {
    if case .restored(let options) = link { begin(options) } else { nil }
  }

  /// The adapter is switched off: waiting attempts are forgotten without a call, as the state reports it. A link has its own
  /// end.
  package mutating func powerOff() -> Command? {
    switch link {
    case .none, .restored, .established: return nil
    case .establishing(let driver, _):
      link = .ending(driver, isReported: false, next: nil)
      return .end(driver)
    case .ending(let driver, let isReported, _):
      link = .ending(driver, isReported: isReported, next: nil)
      return nil
    }
  }

  // MARK: Events of the loop

  /// The attempt has a link.
  package mutating func established(_ driver: PeripheralLink) -> Report? {
    guard case .establishing(driver, let options) = link else { return nil }
    link = .established(driver, options)
    return .connected
  }

  /// The attempt is over.
  package mutating func ended(_ driver: PeripheralLink, _ ending: Ending) -> (Command?, Report?) {
    switch link {
    case .establishing(driver, _):
      link = .none
      if case .failed(let error, _) = ending { return (nil, .failed(error)) }
      return (nil, nil)
    case .established(driver, var options):
      guard options.reconnects, case .endedByPeripheral(let error) = ending else {
        link = .none
        return (nil, .disconnected(isReconnecting: false, ending.error))
      }
      options.delay = .zero
      return (begin(options), .disconnected(isReconnecting: true, error))
    case .ending(driver, let isReported, let next):
      link = .none
      var error = ending.error
      // The program has given it up.
      if case .failed = ending { error = nil }
      return (next.map { begin($0) }, isReported ? .disconnected(isReconnecting: false, error) : nil)
    case .none, .restored, .establishing, .established, .ending: return (nil, nil)
    }
  }

  private mutating func begin(_ options: Options) -> Command {
    let driver = PeripheralLink()
    link = .establishing(driver, options)
    return .begin(driver, options)
  }
}

/// Matches one object.
private func ~= (pattern: PeripheralLink, value: PeripheralLink) -> Bool { pattern === value }
