import ATT
import HaloBluetoothCore

/// What the recorded server sent on its own, and when a replay sends it.
///
/// Everything on a handle that the client has subscribed to is sent exactly once, in the order of the packets of its
/// handle, and never before what caused it, as long as the client may still do that:
/// - what has no cause but the subscription comes at its recorded distance to that, or to a later request of the client
///   that has effects on the same handle;
/// - what answers a write waits for it (it is held). A client that asks in another order than the recorded one gets each
///   answer when it asks, so that answers overtake those that it has not asked for;
/// - a client that only listens gets all of it at the recorded distance to its subscription: ``listen()``;
/// - what is still held at the end of the recording is released then: ``releaseRest(at:)``.
struct PushQueue {
  private enum State {
    /// It comes when its time has.
    case free
    /// It waits for the write that it answers.
    case held
    case sent
  }

  /// The pushes of one handle: indices in the order of the packets.
  private struct Lane {
    var pushes: [Int] = []
    /// The first that is neither held nor sent, as a place in `pushes`; there may be others before it that are held.
    var next = 0
    /// The first that is not sent.
    var oldest = 0
    /// From the recorded time to that of the replay, of what has no time of its own; nil before the first subscription.
    var offset: Duration?

    /// Goes on to the first that is free, and past what was sent.
    mutating func settle(_ states: [State]) {
      while oldest < pushes.count, states[pushes[oldest]] == .sent { oldest += 1 }
      next = max(next, oldest)
      while next < pushes.count, states[pushes[next]] != .free { next += 1 }
    }
  }

  private let pushes: [RecordedDialogue.Push]
  private let subscriptions: [AttributeHandle: Int64]
  private let start: Int64
  /// The place of each push in its lane.
  private let places: [Int]
  private var states: [State]
  /// When those come that answer a write, and those that were released at the end.
  private var times: [Instant?]
  /// By handle; the server's own requests have nil.
  private var lanes: [AttributeHandle?: Lane] = [:]
  /// The lanes that the client has subscribed to; requests need no subscription.
  private var subscribed: Set<AttributeHandle?> = [nil]
  /// What is sent in addition, in the order of the times: the answers to a request that the client repeats, and made-up ones.
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
    states = pushes.map { $0.handle != nil && $0.cause != nil ? .held : .free }
    times = Array(repeating: nil, count: pushes.count)
    var places: [Int] = []
    for (index, push) in pushes.enumerated() {
      places.append(lanes[push.handle]?.pushes.count ?? 0)
      lanes[push.handle, default: Lane()].pushes.append(index)
    }
    self.places = places
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
    extras.isEmpty && subscribed.allSatisfy { lanes[$0].map { $0.oldest == $0.pushes.count } ?? true }
  }

  /// Whether all of it was sent, also that of handles to which the client has not subscribed.
  var isExhausted: Bool { extras.isEmpty && lanes.values.allSatisfy { $0.oldest == $0.pushes.count } }

  // MARK: What the client does

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

  /// The client has made a recorded request: what answered it follows at the recorded distance.
  ///
  /// - Parameter isNew: whether it was not made before; a repeated request gets its answers again
  mutating func match(_ exchange: RecordedDialogue.Exchange, isNew: Bool, at now: Instant) {
    let shift = Self.shift(exchange.time, to: now)
    var moved: Set<AttributeHandle?> = []
    for index in exchange.pushes {
      let push = pushes[index]
      let due = self.due(push.time, shift)
      switch states[index] {
      case .held:
        states[index] = .free
        times[index] = due
        if let next = lanes[push.handle]?.next { lanes[push.handle]?.next = min(next, places[index]) }
      case .free: times[index] = times[index].map { min($0, due) }
      case .sent where !isNew && push.handle != nil: add(push, at: due)
      case .sent: continue
      }
      moved.insert(push.handle)
    }
    // What was recorded before the answer comes before it, and what was recorded after it at its distance.
    for handle in moved {
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
      for index in lane.pushes[lane.oldest...] where states[index] == .free && pushes[index].cause != nil {
        if times[index] == nil { states[index] = .held }
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

  /// Releases what is held on the handles that the client has subscribed to, at the recorded distance to each other.
  ///
  /// - Returns: whether there was something
  mutating func releaseRest(at now: Instant) -> Bool {
    var first: Int?
    for handle in subscribed {
      guard let lane = lanes[handle],
        let held = lane.pushes[lane.oldest...].first(where: { states[$0] == .held })
      else { continue }
      first = min(first ?? held, held)
    }
    guard let first else { return false }
    let shift = Self.shift(pushes[first].time, to: now)
    for handle in subscribed { release(handle, shift) }
    return true
  }

  /// Releases what is held on a handle.
  ///
  /// - Parameter shift: from the recorded time to that of the replay; nil for the distance to the subscription
  private mutating func release(_ handle: AttributeHandle?, _ shift: Duration?) {
    guard let lane = lanes[handle] else { return }
    for index in lane.pushes[lane.oldest...] where states[index] == .held {
      states[index] = .free
      times[index] = shift.map { due(pushes[index].time, $0) }
    }
    lanes[handle]?.next = lane.oldest
    lanes[handle]?.settle(states)
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
    // Before it is known whether the client only listens, nothing overtakes what is held.
    if !hasAsked, lane.oldest < lane.next { return nil }
    if pushes[index].isIndication, !canIndicate { return nil }
    return (times[index] ?? due(pushes[index].time, offset), index)
  }

  private func first(canIndicate: Bool) -> (due: Instant, handle: AttributeHandle?)? {
    var best: (due: Instant, handle: AttributeHandle?, index: Int)?
    for handle in subscribed {
      guard let lane = lanes[handle], let (due, index) = candidate(lane, canIndicate: canIndicate) else {
        continue
      }
      if let found = best, (found.due, found.index) < (due, index) { continue }
      best = (due, handle, index)
    }
    return best.map { ($0.due, $0.handle) }
  }

  private func firstExtra(canIndicate: Bool) -> Int? {
    extras.firstIndex { canIndicate || !$0.push.isIndication }
  }

  /// When the next is to be sent; nil if nothing is to be sent for now.
  ///
  /// - Parameter canIndicate: whether no indication waits for its confirmation
  func nextDue(canIndicate: Bool) -> Instant? {
    let extra = firstExtra(canIndicate: canIndicate).map { extras[$0].due }
    return [first(canIndicate: canIndicate)?.due, extra].compactMap { $0 }.min()
  }

  /// Takes the next.
  mutating func take(canIndicate: Bool) -> RecordedDialogue.Push? {
    let extra = firstExtra(canIndicate: canIndicate)
    guard let (due, handle) = first(canIndicate: canIndicate), extra.map({ extras[$0].due > due }) ?? true,
      var lane = lanes[handle]
    else { return extra.map { extras.remove(at: $0).push } }
    let index = lane.pushes[lane.next]
    states[index] = .sent
    lane.settle(states)
    lanes[handle] = lane
    return pushes[index]
  }
}
