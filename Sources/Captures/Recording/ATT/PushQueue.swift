import ATT
import HaloBluetoothCore

/// The notifications and indications of the recorded server, and the times at which a replay sends them.
///
/// Everything on a handle that the client has subscribed to is sent exactly once, in the order of the packets of its handle,
/// and never before its cause, as long as the client may still bring that about:
/// - a value without a cause but the subscription comes at its recorded distance to that, or to a later request of the client
///   that has effects on the same handle;
/// - an answer to a write waits for it (it is held). A client that asks in another order than the recorded one gets each answer
///   when it asks, so that answers overtake those that it has not asked for;
/// - a client that only listens gets all of it at the recorded distance to its subscription: ``listen()``;
/// - values that are still held at the end of the recording are released then: ``releaseRest(at:)``.
struct PushQueue {
  private enum State {
    /// It waits for the write that it answers.
    case held
    /// It comes when its time has, which is the recorded one unless it was held.
    case free(at: Instant?)
    case sent

    var isHeld: Bool { if case .held = self { true } else { false } }
    var isSent: Bool { if case .sent = self { true } else { false } }
  }

  /// The pushes of one handle: indices in the order of the packets.
  private struct Lane {
    var pushes: [Int] = []
    /// The first that is neither held nor sent, as a place in `pushes`; there may be others before it that are held.
    private(set) var next = 0
    /// The first that is not sent.
    private(set) var oldest = 0
    /// The offset from the recorded time to that of the replay, for values without a time of their own; nil before the first
    /// subscription.
    var offset: Duration?

    /// The pushes that are not sent, and perhaps others.
    var rest: ArraySlice<Int> { pushes[oldest...] }
    var isEmpty: Bool { oldest == pushes.count }

    /// Goes on to the first that is free, and past those that were sent.
    ///
    /// - Parameter isAgain: whether others than the last one have changed
    mutating func settle(_ states: [State], isAgain: Bool = false) {
      while oldest < pushes.count, states[pushes[oldest]].isSent { oldest += 1 }
      next = isAgain ? oldest : max(next, oldest)
      while next < pushes.count {
        if case .free = states[pushes[next]] { return }
        next += 1
      }
    }
  }

  private let pushes: [RecordedDialogue.Push]
  private let subscriptions: [AttributeHandle: Int64]
  private let start: Int64
  private var states: [State]
  /// By handle; the server's own requests have nil.
  private var lanes: [AttributeHandle?: Lane] = [:]
  /// The lanes that the client has subscribed to; requests need no subscription.
  private var subscribed: Set<AttributeHandle?> = [nil]
  /// The values that are sent in addition, in the order of the times: the answers to a request that the client repeats, and
  /// made-up ones.
  private var extras: [(due: Instant, push: RecordedDialogue.Push)] = []
  /// Whether the client is taken for one that only listens.
  private var isListening = false
  /// Whether the client has asked for something.
  private var hasAsked = false

  /// - Parameter now: the time at which the link begins
  init(_ dialogue: RecordedDialogue, at now: Instant) {
    pushes = dialogue.pushes
    subscriptions = dialogue.subscriptions
    start = dialogue.start
    states = pushes.map { $0.handle != nil && $0.cause != nil ? .held : .free(at: nil) }
    for (index, push) in pushes.enumerated() { lanes[push.handle, default: Lane()].pushes.append(index) }
    for handle in lanes.keys { lanes[handle]?.settle(states) }
    lanes[nil]?.offset = Self.shift(start, to: now)
  }

  /// From a recorded time, in microseconds, to one of the replay.
  private static func shift(_ recorded: Int64, to time: Instant) -> Duration {
    let sinceBegin: Duration = time - Instant.zero
    return sinceBegin - .microseconds(recorded)
  }

  /// Whether all that the client has subscribed to was sent.
  var isEmpty: Bool {
    extras.isEmpty && subscribed.allSatisfy { lanes[$0]?.isEmpty ?? true }
  }

  /// Whether all of it was sent, also that of handles to which the client has not subscribed.
  var isExhausted: Bool { extras.isEmpty && lanes.values.allSatisfy(\.isEmpty) }

  // MARK: Actions of the client

  /// The client has subscribed to a characteristic.
  ///
  /// - Parameter exchange: the recorded subscription that it matches; nil if there is none
  mutating func subscribe(_ handle: AttributeHandle, _ exchange: RecordedDialogue.Exchange?, at now: Instant)
  {
    guard var lane = lanes[handle] else { return }
    let first = lane.pushes.first.map { pushes[$0].time } ?? start
    let base = subscriptions[handle].flatMap { $0 <= first ? $0 : nil } ?? start
    let isAgain = lane.offset != nil && exchange.map { $0.time > base } ?? false
    let offset = Self.shift(isAgain ? exchange?.time ?? base : base, to: now)
    if lane.offset == nil || isAgain && !subscribed.contains(handle) {
      lane.offset = offset
    } else if isAgain {
      lane.offset = min(lane.offset ?? offset, offset)
    }
    subscribed.insert(handle)
    lanes[handle] = lane
  }

  mutating func unsubscribe(_ handle: AttributeHandle) {
    subscribed.remove(handle)
    extras.removeAll { $0.push.handle == handle }
  }

  /// The client has made a recorded request: its answers follow at the recorded distance.
  ///
  /// - Parameter isNew: whether it was not made before; a repeated request gets its answers again
  mutating func match(_ exchange: RecordedDialogue.Exchange, isNew: Bool, at now: Instant) {
    let shift = Self.shift(exchange.time, to: now)
    var moved: Set<AttributeHandle?> = []
    for index in exchange.pushes {
      let push = pushes[index]
      let due = self.due(push.time, shift)
      switch states[index] {
      case .held: states[index] = .free(at: due)
      case .free(let time): states[index] = .free(at: time.map { min($0, due) })
      case .sent where !isNew && push.handle != nil: add(push, at: due)
      case .sent: continue
      }
      moved.insert(push.handle)
    }
    // Values recorded before the answer come before it, and those recorded after it at their distance.
    for handle in moved {
      lanes[handle]?.settle(states, isAgain: true)
      if let offset = lanes[handle]?.offset, isNew { lanes[handle]?.offset = min(offset, shift) }
    }
  }

  /// Adds something that is not in the recording at this place.
  mutating func add(_ push: RecordedDialogue.Push, at due: Instant) {
    guard lanes[push.handle] == nil || subscribed.contains(push.handle) else { return }
    let place = extras.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
    extras.insert((due, push), at: place)
  }

  /// The client has asked for something, recorded or not: answers to other requests wait for these from now on.
  mutating func ask() {
    hasAsked = true
    guard isListening else { return }
    isListening = false
    for (handle, lane) in lanes where handle != nil {
      for index in lane.rest where pushes[index].cause != nil {
        if case .free(at: nil) = states[index] { states[index] = .held }
      }
      lanes[handle]?.settle(states)
    }
  }

  /// The client only listens: nothing waits for a request.
  mutating func listen() {
    guard !hasAsked, !isListening else { return }
    isListening = true
    for handle in lanes.keys { release(handle, nil) }
  }

  /// Releases the values that are held on the handles that the client has subscribed to, at the recorded distance to each
  /// other.
  ///
  /// - Returns: whether there was something
  mutating func releaseRest(at now: Instant) -> Bool {
    var first: Int?
    for handle in subscribed {
      guard let held = lanes[handle]?.rest.first(where: { states[$0].isHeld }) else { continue }
      first = min(first ?? held, held)
    }
    guard let first else { return false }
    let shift = Self.shift(pushes[first].time, to: now)
    for handle in subscribed { release(handle, shift) }
    return true
  }

  /// Releases the values that are held on a handle.
  ///
  /// - Parameter shift: from the recorded time to that of the replay; nil for the distance to the subscription
  private mutating func release(_ handle: AttributeHandle?, _ shift: Duration?) {
    guard let lane = lanes[handle] else { return }
    for index in lane.rest where states[index].isHeld {
      states[index] = .free(at: shift.map { due(pushes[index].time, $0) })
    }
    lanes[handle]?.settle(states, isAgain: true)
  }

  // MARK: Sending

  /// The time of the replay; a damaged recorded one does not overflow.
  private func due(_ recorded: Int64, _ offset: Duration) -> Instant {
    Instant.zero + (.microseconds(recorded) + offset)
  }

  /// The next of a lane, with its time; nil if there is none, or if it has to wait for something.
  private func candidate(_ lane: Lane, canIndicate: Bool) -> (due: Instant, index: Int)? {
    guard let offset = lane.offset, lane.next < lane.pushes.count else { return nil }
    let index = lane.pushes[lane.next]
    guard case .free(let time) = states[index] else { return nil }
    // Before it is known whether the client only listens, nothing overtakes the held values.
    if !hasAsked, lane.oldest < lane.next { return nil }
    if pushes[index].isIndication, !canIndicate { return nil }
    return (time ?? due(pushes[index].time, offset), index)
  }

  /// The next value: the first of a lane, or an extra one.
  private enum Next {
    case lane(AttributeHandle?)
    case extra(Int)
  }

  private func next(canIndicate: Bool) -> (due: Instant, place: Next)? {
    var best: (due: Instant, handle: AttributeHandle?, index: Int)?
    for handle in subscribed {
      guard let lane = lanes[handle], let (due, index) = candidate(lane, canIndicate: canIndicate) else {
        continue
      }
      if let found = best, (found.due, found.index) < (due, index) { continue }
      best = (due, handle, index)
    }
    let extra = extras.firstIndex { canIndicate || !$0.push.isIndication }
    if let extra, best.map({ extras[extra].due <= $0.due }) ?? true {
      return (extras[extra].due, .extra(extra))
    }
    return best.map { ($0.due, .lane($0.handle)) }
  }

  /// When the next is to be sent; nil if nothing is to be sent for now.
  ///
  /// - Parameter canIndicate: whether no indication waits for its confirmation
  func nextDue(canIndicate: Bool) -> Instant? { next(canIndicate: canIndicate)?.due }

  /// Takes the next.
  mutating func take(canIndicate: Bool) -> RecordedDialogue.Push? {
    switch next(canIndicate: canIndicate)?.place {
    case .extra(let index)?: return extras.remove(at: index).push
    case .lane(let handle)?:
      guard let lane = lanes[handle] else { return nil }
      let index = lane.pushes[lane.next]
      states[index] = .sent
      lanes[handle]?.settle(states)
      return pushes[index]
    case nil: return nil
    }
  }
}
