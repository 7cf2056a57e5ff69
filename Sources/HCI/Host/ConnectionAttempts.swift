import HaloBluetoothCore

/// The attempts to establish links, one at a time, as a value: events with their time in, actions out. It does no I/O;
/// ``ConnectionRunner`` runs it.
///
/// A link is established when its first packet arrives. On a Raspberry Pi many links are reported as complete and lost
/// immediately afterwards with 0x3E, before any packet. Those attempts are repeated transparently.
package struct ConnectionAttempts<Link> {
  package typealias ID = UInt64

  /// Who creates the links.
  package enum Creator {
    /// The controller, by LE Create Connection: a creation that is cancelled still has a result, and a link that the
    /// controller reports still has to prove that it works.
    case controller
    /// The operating system, by a socket: it connects once the peer has advertised, and its socket is connected once the link
    /// works.
    case system
  }

  package enum Event {
    /// The peer has advertised. Only where the system creates links.
    case heard
    /// The peer can't be waited for, or has a link already. Only where the system creates links.
    case cannotListen
    /// The adapter can't be used now. Only where the system creates links.
    case unusable
    /// The scan has stopped: a link can be created.
    case prepared
    /// The controller no longer only looks for the peer. Only where the system creates links.
    case connecting
    /// The controller has reported a link; nil if it is the system's.
    case created(ConnectionHandle, Link?)
    /// The first packet can't be requested. Without it, the link is established after this time.
    case unprobed(Duration)
    /// The controller could not create the link.
    case creationFailed(HCIErrorCode)
    /// A link is lost.
    case lost(ConnectionHandle, HCIErrorCode)
    /// The system has stopped creating the link.
    case stopped
    /// The system has the result, which follows after events that precede it.
    case answered
    /// The creation has ended without a link.
    case ended(End)
    /// A packet has arrived on the link; nil for the one created last.
    case established(Link?)
  }

  package enum End {
    /// The peer was not heard.
    case notHeard
    /// Another attempt may succeed soon. The error to report if this was the last one; nil if the link was lost.
    case interrupted(StackError?)
    case failed(StackError)
  }

  package enum Action {
    /// Report ``Event/heard`` when the peer advertises. Only where the system creates links.
    case listen(ConnectionRequest)
    /// Stop the scan, unless ``ConnectionAttempts/keepsScan`` says otherwise, and report ``Event/prepared``.
    case prepare(ID, ConnectionRequest)
    case create(ID, ConnectionRequest)
    /// Cancel the creation, which still has a result. This is for the controller only.
    case cancelCreation
    /// Forget the creation. A socket is closed; a controller has not reported its end.
    case abandonCreation
    /// Request the first packet.
    case probe(Link)
    case disconnect(Link)
    /// Resume the scan: there are no attempts.
    case rest
    /// Information for the user.
    case note(String)
    case finish(ID, Result<Link, StackError>)
  }

  private enum Phase {
    case idle
    /// Waiting until the adapter can be used.
    case unusable
    /// Waiting for an advertisement of the peer.
    case listening
    /// Waiting for the scan to stop.
    case preparing
    /// Waiting for the result of the creation.
    case creating
    /// The creation was cancelled; still waiting for its result.
    case cancelling
    /// The link is connected; waiting for its first packet, or for its end if it is not wanted any more.
    case establishing(Link)
    /// The result is there; it follows.
    case settling
    /// Waiting before the next attempt.
    case backingOff
  }

  private struct Entry {
    let id: ID
    let request: ConnectionRequest
    let deadline: Instant
    /// When it became the first; nil while it waits for others.
    var begin: Instant?
    /// Whether the peer has advertised since then.
    var wasHeard = false
    var count = 0
    /// The last status that the controller has reported.
    var status: HCIErrorCode?
    /// The links that the controller has reported and not lost.
    var links: Set<ConnectionHandle> = []
    /// Set when the caller or the deadline has ended the attempt, but the controller has not.
    var verdict: StackError?
  }

  /// The maximum number of attempts that may end before the first packet.
  package static var maximumAttempts: Int { 6 }
  /// How long the result of a cancelled creation is waited for. The specification requires it in any case, and some
  /// controllers omit it.
  private static var cancellationPeriod: Duration { .seconds(2) }
  /// How long the system may look for a peer that has just advertised. After it, the peer is waited for again: a kernel
  /// that got the request while it powered the adapter on may not look at all.
  private static var renewalPeriod: Duration { .seconds(4) }
  /// The interval for checking whether the adapter can be used.
  private static var usabilityPeriod: Duration { .milliseconds(100) }

  private let creator: Creator
  /// Whether the scan of this program goes on while the system connects. Some kernels connect only then, others only
  /// otherwise; when one has not connected in time, the other way is tried.
  package private(set) var keepsScan: Bool
  private var entries: [Entry] = []
  private var phase = Phase.idle
  /// When ``phase`` ends on its own.
  private var phaseDeadline: Instant?
  private var isConnecting = false

  package init(_ creator: Creator, keepsScan: Bool = false) {
    self.creator = creator
    self.keepsScan = keepsScan
  }

  // MARK: State

  /// When to call ``advance(to:)``; nil if there is nothing to wait for.
  package var nextDeadline: Instant? {
    (entries.lazy.filter { $0.verdict == nil }.map(\.deadline) + [phaseDeadline].compactMap { $0 }).min()
  }

  /// The request that is being worked on.
  package var current: ConnectionRequest? { entries.first?.request }

  package func isCurrent(_ id: ID) -> Bool { entries.first?.id == id }

  /// Whether an attempt is the current one, and still wanted.
  package func isWanted(_ id: ID) -> Bool { entries.first.map { $0.id == id && $0.verdict == nil } ?? false }

  /// Whether an advertisement of the peer is waited for.
  package var isListening: Bool { if case .listening = phase { true } else { false } }

  /// Whether a creation has no result yet.
  package var isCreating: Bool {
    switch phase {
    case .creating, .cancelling: true
    default: false
    }
  }

  /// Whether the controller has reported this link for the request that is being worked on.
  package func hasCreated(_ handle: ConnectionHandle) -> Bool {
    entries.first?.links.contains(handle) ?? false
  }

  // MARK: Requests

  /// Adds an attempt behind the others.
  package mutating func add(_ id: ID, _ request: ConnectionRequest, at now: Instant) -> [Action] {
    entries.append(Entry(id: id, request: request, deadline: now + request.deadline))
    return entries.count == 1 ? begin(at: now) : []
  }

  /// Ends an attempt. A link that is established nevertheless is disconnected.
  package mutating func end(_ id: ID, _ verdict: StackError, at now: Instant) -> [Action] {
    guard let index = entries.firstIndex(where: { $0.id == id }), entries[index].verdict == nil else {
      return []
    }
    guard index == 0 else {
      entries.remove(at: index)
      return [.finish(id, .failure(verdict))]
    }
    entries[0].verdict = verdict
    switch phase {
    case .creating where creator == .controller:
      enter(.cancelling, until: now + Self.cancellationPeriod)
      return [.cancelCreation]
    case .establishing(let link):
      phaseDeadline = nil
      return [.disconnect(link)]
    default: return finish(.failure(verdict), at: now)
    }
  }

  /// Why an attempt whose time is over has failed. One that had less than a second, after others, was not made.
  private func overdue(_ entry: Entry, at now: Instant) -> StackError {
    let peer = entry.request.peer
    let seconds = entry.request.deadline.inSeconds
    guard let begin = entry.begin, now - begin >= min(.seconds(1), entry.request.deadline) else {
      return .notTried(peer, seconds: seconds)
    }
    let tried = (now - begin).inSeconds
    return entry.wasHeard ? .peerDidNotAnswer(peer, seconds: tried) : .peerNotFound(peer, seconds: tried)
  }

  /// Ends all attempts: the adapter is lost, or the controller is reset.
  package mutating func fail(_ error: StackError) -> [Action] {
    let abandoned = abandonCreation()
    let failed = entries
    entries = []
    enter(.idle)
    return abandoned + failed.map { .finish($0.id, .failure(error)) }
  }

  /// Takes the steps that are due at `now`: one at a time, as its actions may have consequences.
  package mutating func advance(to now: Instant) -> [Action] {
    let due = entries.filter { $0.verdict == nil && $0.deadline <= now }.min { $0.deadline < $1.deadline }
    if let due, due.deadline <= phaseDeadline ?? due.deadline {
      return end(due.id, overdue(due, at: now), at: now)
    }
    guard let phaseDeadline, phaseDeadline <= now, let entry = entries.first else { return [] }
    self.phaseDeadline = nil
    switch phase {
    case .unusable: return listen()
    case .creating:
      guard !isConnecting else {
        self.phaseDeadline = now + Self.renewalPeriod
        return []
      }
      entries[0].count = 0
      keepsScan.toggle()
      let note = "the kernel has not connected to \(entry.request.peer) in time; cancelled, and tried again"
      return [.note(note)] + abandonCreation() + listen()
    case .cancelling: return [.abandonCreation] + finish(.failure(entry.verdict ?? .cancelled), at: now)
    case .establishing(let link): return finish(.success(link), at: now)
    case .backingOff: return create(at: now)
    default: return []
    }
  }

  // MARK: Events

  /// Handles an event of the attempt with the identifier `id`, which may have ended; nil is the current one.
  package mutating func handle(_ event: Event, of id: ID? = nil, at now: Instant) -> [Action] {
    guard let entry = entries.first, id == nil || id == entry.id else { return [] }
    switch (event, phase) {
    case (.heard, .listening):
      entries[0].wasHeard = true
      return prepare()
    case (.cannotListen, .listening): return prepare()
    case (.unusable, .listening): enter(.unusable, until: now + Self.usabilityPeriod)
    case (.unusable, .creating), (.unusable, .settling):
      // Nothing was tried.
      entries[0].count -= 1
      return listen()
    case (.prepared, .preparing): return create(at: now)
    case (.connecting, _): isConnecting = true
    case (.created(let handle, let link), _):
      entries[0].links.insert(handle)
      guard let link, isCreating else { break }
      enter(.establishing(link))
      // The link may have been established before the cancellation took effect.
      return [entry.verdict == nil ? .probe(link) : .disconnect(link)]
    case (.unprobed(let grace), .establishing) where entry.verdict == nil: phaseDeadline = now + grace
    case (.creationFailed(let status), _): return creationFailed(status, at: now)
    case (.lost(let handle, let reason), _): return lost(handle, reason, at: now)
    case (.stopped, .creating): return abandonCreation() + listen()
    case (.answered, .creating): enter(.settling)
    case (.ended(let end), _) where isCreating: return ended(end, at: now)
    case (.ended(let end), .settling): return ended(end, at: now)
    case (.established(nil), .establishing(let link)) where entry.verdict == nil:
      return finish(.success(link), at: now)
    case (.established(let link?), .settling): return finish(.success(link), at: now)
    default: break
    }
    return []
  }

  private mutating func creationFailed(_ status: HCIErrorCode, at now: Instant) -> [Action] {
    entries[0].status = status
    switch (creator, phase, status) {
    // The late result of a cancelled creation; the current one was not cancelled.
    case (.controller, .creating, .unknownConnectionIdentifier): return []
    case (.controller, .creating, .connectionFailedToBeEstablished): return retry(at: now)
    case (.controller, _, _) where isCreating:
      return finish(
        .failure(entries[0].verdict ?? .connectionFailed(entries[0].request.peer, status)), at: now)
    case (.system, .creating, .connectionFailedToBeEstablished):
      return abandonCreation() + retry(at: now)
    // The system has looked for the peer for the maximum time.
    case (.system, .creating, .unknownConnectionIdentifier): return abandonCreation() + listen()
    default: return []
    }
  }

  private mutating func lost(_ handle: ConnectionHandle, _ reason: HCIErrorCode, at now: Instant) -> [Action]
  {
    guard entries[0].links.remove(handle) != nil else { return [] }
    entries[0].status = reason
    switch phase {
    case .establishing:
      if let verdict = entries[0].verdict { return finish(.failure(verdict), at: now) }
      guard reason == .connectionFailedToBeEstablished else {
        return finish(.failure(.connectionFailed(entries[0].request.peer, reason)), at: now)
      }
      return retry(at: now)
    // The system has not acted upon it yet.
    case .creating: return abandonCreation() + retry(at: now)
    default: return []
    }
  }

  private mutating func ended(_ end: End, at now: Instant) -> [Action] {
    if let verdict = entries[0].verdict { return finish(.failure(verdict), at: now) }
    enter(.settling)
    switch end {
    case .notHeard: return listen()
    case .interrupted(let error): return retry(at: now, otherwise: error)
    case .failed(let error): return finish(.failure(error), at: now)
    }
  }

  // MARK: Steps

  private mutating func enter(_ phase: Phase, until deadline: Instant? = nil) {
    self.phase = phase
    phaseDeadline = deadline
  }

  private mutating func begin(at now: Instant) -> [Action] {
    guard !entries.isEmpty else {
      enter(.idle)
      return [.rest]
    }
    entries[0].begin = now
    return creator == .system ? listen() : prepare()
  }

  private mutating func listen() -> [Action] {
    enter(.listening)
    return [.listen(entries[0].request)]
  }

  private mutating func prepare() -> [Action] {
    enter(.preparing)
    return [.prepare(entries[0].id, entries[0].request)]
  }

  private mutating func create(at now: Instant) -> [Action] {
    entries[0].count += 1
    isConnecting = false
    enter(.creating, until: creator == .system ? now + Self.renewalPeriod : nil)
    return [.create(entries[0].id, entries[0].request)]
  }

  /// Closes the system's socket, if there is one.
  private mutating func abandonCreation() -> [Action] {
    guard creator == .system, isCreating else { return [] }
    enter(.settling)
    return [.abandonCreation]
  }

  /// - Parameter error: the error to report if there are no attempts left; nil if the link was lost
  private mutating func retry(at now: Instant, otherwise error: StackError? = nil) -> [Action] {
    let entry = entries[0]
    guard entry.count < Self.maximumAttempts else { return finish(.failure(error ?? loss(entry)), at: now) }
    enter(.backingOff, until: now + .milliseconds(50 << max(0, min(entry.count - 1, 4))))
    return []
  }

  private func loss(_ entry: Entry) -> StackError {
    guard let status = entry.status, status != .connectionFailedToBeEstablished else {
      return .connectionNotEstablished(entry.request.peer, attempts: entry.count)
    }
    return .connectionFailed(entry.request.peer, status)
  }

  /// The next attempt, or the scan, continues before the caller learns the result, as it may take its time.
  private mutating func finish(_ result: Result<Link, StackError>, at now: Instant) -> [Action] {
    let abandoned = abandonCreation()
    let entry = entries.removeFirst()
    return abandoned + begin(at: now) + [.finish(entry.id, result)]
  }
}

extension ConnectionAttempts.Action: Equatable where Link: Equatable {}
