import HCI
import HaloBluetoothCore
import TestSupport
import Testing

/// Connection attempts as dialogues, without a controller, a kernel or timers. A link is the text that names it.
private struct Dialogue {
  typealias Attempts = ConnectionAttempts<String>

  var attempts: Attempts
  var now = Instant.zero

  init(_ creator: Attempts.Creator) { attempts = Attempts(creator) }

  mutating func add(_ id: UInt64, _ request: ConnectionRequest = request()) -> [Attempts.Action] {
    attempts.add(id, request, at: now)
  }

  mutating func end(_ id: UInt64) -> [Attempts.Action] { attempts.end(id, .cancelled, at: now) }

  /// The actions after the last event.
  mutating func handle(_ events: Attempts.Event..., of id: UInt64? = nil) -> [Attempts.Action] {
    var actions: [Attempts.Action] = []
    for event in events { actions = attempts.handle(event, of: id, at: now) }
    return actions
  }

  /// Advances to the next deadline.
  ///
  /// - Returns: how long that took, and what is done then
  mutating func advance() throws -> (Duration, [Attempts.Action]) {
    let deadline = try #require(attempts.nextDeadline)
    let pause = deadline - now
    now = deadline
    return (pause, attempts.advance(to: deadline))
  }
}

private let peer = BluetoothAddress(0xC011_2233_A1B2, .random)
private let first = handle(0x40)

private func request(_ seconds: Int = 30, _ peer: BluetoothAddress = peer) -> ConnectionRequest {
  ConnectionRequest(peer: peer, deadline: .seconds(seconds))
}

@Suite struct ControllerConnectionAttemptsTests {
  private func creating(_ id: UInt64 = 1) -> Dialogue {
    var dialogue = Dialogue(.controller)
    _ = dialogue.add(id)
    _ = dialogue.handle(.prepared)
    return dialogue
  }

  @Test func aLinkIsEstablishedWithItsFirstPacket() {
    var dialogue = Dialogue(.controller)
    #expect(dialogue.add(1) == [.prepare(1, request())])
    #expect(dialogue.handle(.prepared, of: 1) == [.create(1, request())])
    #expect(dialogue.handle(.created(first, "link")) == [.probe("link")])
    #expect(dialogue.handle(.established(nil)) == [.rest, .finish(1, .success("link"))])
    #expect(dialogue.attempts.nextDeadline == nil)
  }

  @Test func establishesUnprobedLinkAfterDelay() throws {
    var dialogue = creating()
    #expect(dialogue.handle(.created(first, "link"), .unprobed(.milliseconds(120))) == [])
    let (pause, actions) = try dialogue.advance()
    #expect(pause == .milliseconds(120))
    #expect(actions == [.rest, .finish(1, .success("link"))])
  }

  @Test func aLinkLostBeforeItsFirstPacketIsTriedSixTimes() throws {
    var dialogue = creating()
    var pauses: [Duration] = []
    for _ in 1...5 {
      #expect(
        dialogue.handle(.created(first, "link"), .lost(first, .connectionFailedToBeEstablished)) == [])
      let (pause, actions) = try dialogue.advance()
      pauses.append(pause)
      #expect(actions == [.create(1, request())])
    }
    #expect(pauses == [50, 100, 200, 400, 800].map { .milliseconds($0) })
    #expect(
      dialogue.handle(.created(first, "link"), .lost(first, .connectionFailedToBeEstablished))
        == [.rest, .finish(1, .failure(.connectionNotEstablished(peer, attempts: 6)))])
  }

  @Test func aLinkLostForAnotherReasonIsNotTriedAgain() {
    var dialogue = creating()
    #expect(
      dialogue.handle(.created(first, "link"), .lost(first, .connectionTimeout))
        == [.rest, .finish(1, .failure(.connectionFailed(peer, .connectionTimeout)))])
  }

  @Test func aCancelledCreationIsWaitedFor() throws {
    var dialogue = creating()
    #expect(dialogue.end(1) == [.cancelCreation])
    #expect(dialogue.end(1) == [])
    #expect(
      dialogue.handle(.creationFailed(.unknownConnectionIdentifier))
        == [.rest, .finish(1, .failure(.cancelled))])
    // For two seconds.
    dialogue = creating()
    _ = dialogue.end(1)
    let (pause, actions) = try dialogue.advance()
    #expect(pause == .seconds(2))
    #expect(actions == [.abandonCreation, .rest, .finish(1, .failure(.cancelled))])
  }

  @Test func aLinkThatIsFasterThanItsCancellationIsDisconnected() {
    var dialogue = creating()
    _ = dialogue.end(1)
    #expect(dialogue.handle(.created(first, "link")) == [.disconnect("link")])
    #expect(dialogue.handle(.established(nil)) == [])
    #expect(
      dialogue.handle(.lost(first, .connectionTerminatedByLocalHost))
        == [.rest, .finish(1, .failure(.cancelled))])
  }

  @Test func theLateResultOfACancelledCreationIsNotThatOfTheNextOne() {
    var dialogue = creating()
    #expect(dialogue.handle(.creationFailed(.unknownConnectionIdentifier)) == [])
    #expect(
      dialogue.handle(.creationFailed(.connectionLimitExceeded))
        == [.rest, .finish(1, .failure(.connectionFailed(peer, .connectionLimitExceeded)))])
  }

  @Test func theDeadlineIncludesTheTimeInTheQueue() throws {
    var dialogue = Dialogue(.controller)
    _ = dialogue.add(1, request(100))
    #expect(dialogue.add(2, request(5)) == [])
    let (pause, actions) = try dialogue.advance()
    #expect(pause == .seconds(5))
    #expect(actions == [.finish(2, .failure(.notTried(peer, seconds: 5)))])
  }

  /// The peer was looked for in the rest of its time only.
  @Test func theTimeInTheQueueIsNotPartOfTheError() throws {
    var dialogue = Dialogue(.controller)
    _ = dialogue.add(1, request(100))
    _ = dialogue.add(2, request(5))
    dialogue.now = dialogue.now + .seconds(2)
    #expect(dialogue.end(1).contains(.finish(1, .failure(.cancelled))))
    _ = dialogue.handle(.prepared, of: 2)
    let (pause, actions) = try dialogue.advance()
    #expect(pause == .seconds(3) && actions == [.cancelCreation])
    #expect(
      dialogue.handle(.creationFailed(.unknownConnectionIdentifier))
        == [.rest, .finish(2, .failure(.peerNotFound(peer, seconds: 3)))])
  }

  /// The scan stops for an attempt that has ended: its event is not one of the next attempt.
  @Test func ignoresEventOfEndedAttempt() {
    var dialogue = Dialogue(.controller)
    _ = dialogue.add(1)
    _ = dialogue.add(2)
    #expect(dialogue.end(1) == [.prepare(2, request()), .finish(1, .failure(.cancelled))])
    #expect(dialogue.handle(.prepared, of: 1) == [])
    #expect(dialogue.handle(.prepared, of: 2) == [.create(2, request())])
  }

  @Test func aLostControllerEndsAll() {
    var dialogue = creating()
    _ = dialogue.add(2)
    #expect(
      dialogue.attempts.fail(.notReady) == [.finish(1, .failure(.notReady)), .finish(2, .failure(.notReady))])
    #expect(dialogue.attempts.nextDeadline == nil)
    #expect(dialogue.handle(.created(first, "link")) == [])
  }
}

@Suite struct KernelConnectionAttemptsTests {
  private func creating() -> Dialogue {
    var dialogue = Dialogue(.system)
    _ = dialogue.add(1)
    _ = dialogue.handle(.heard, .prepared)
    return dialogue
  }

  @Test func theKernelConnectsWhenThePeerHasAdvertised() {
    var dialogue = Dialogue(.system)
    #expect(dialogue.add(1) == [.listen(request())])
    #expect(dialogue.attempts.isListening)
    #expect(dialogue.handle(.heard) == [.prepare(1, request())])
    #expect(dialogue.handle(.heard) == [])
    #expect(dialogue.handle(.prepared, of: 1) == [.create(1, request())])
    #expect(dialogue.handle(.created(first, nil)) == [])
    #expect(dialogue.attempts.hasCreated(first))
    #expect(dialogue.handle(.answered, of: 1) == [])
    #expect(dialogue.handle(.established("link"), of: 1) == [.rest, .finish(1, .success("link"))])
  }

  @Test func anAdapterThatGoesDownIsWaitedFor() throws {
    var dialogue = Dialogue(.system)
    _ = dialogue.add(1)
    #expect(dialogue.handle(.unusable) == [])
    let (pause, actions) = try dialogue.advance()
    #expect(pause == .milliseconds(100))
    #expect(actions == [.listen(request())])
    // Also one that goes down only then.
    #expect(dialogue.handle(.heard, .prepared) == [.create(1, request())])
    #expect(dialogue.handle(.unusable) == [.listen(request())])
  }

  /// The controller's event comes before the kernel acts upon it: the socket is closed now.
  @Test func aLostLinkClosesTheSocketAndIsTriedSixTimes() throws {
    var dialogue = creating()
    var pauses: [Duration] = []
    for _ in 1...5 {
      #expect(
        dialogue.handle(.created(first, nil), .lost(first, .connectionFailedToBeEstablished))
          == [.abandonCreation])
      let (pause, actions) = try dialogue.advance()
      pauses.append(pause)
      #expect(actions == [.create(1, request())])
    }
    #expect(pauses == [50, 100, 200, 400, 800].map { .milliseconds($0) })
    #expect(
      dialogue.handle(.creationFailed(.connectionFailedToBeEstablished))
        == [.abandonCreation, .rest, .finish(1, .failure(.connectionNotEstablished(peer, attempts: 6)))])
  }

  @Test func theLastStatusIsTheReason() throws {
    var dialogue = creating()
    for _ in 1...5 {
      _ = dialogue.handle(.created(first, nil), .lost(first, .connectionTimeout))
      _ = try dialogue.advance()
    }
    #expect(
      dialogue.handle(.answered, .ended(.interrupted(nil)))
        == [.rest, .finish(1, .failure(.connectionFailed(peer, .connectionTimeout)))])
  }

  @Test func aBusyDeviceIsReportedAsSuch() throws {
    let busy = StackError(.deviceInUse, .final, "another program has it")
    var dialogue = creating()
    for _ in 1...5 {
      #expect(dialogue.handle(.answered, .ended(.interrupted(busy))) == [])
      _ = try dialogue.advance()
    }
    #expect(
      dialogue.handle(.answered, .ended(.interrupted(busy))) == [.rest, .finish(1, .failure(busy))])
  }

  /// What the controller reported before the result arrives with it, and does not undo it.
  @Test func eventsBeforeTheResultAreOnlyNoted() {
    var dialogue = creating()
    #expect(dialogue.handle(.created(first, nil), .answered) == [])
    #expect(dialogue.handle(.lost(first, .connectionTimeout)) == [])
    #expect(dialogue.handle(.stopped) == [])
    #expect(!dialogue.attempts.hasCreated(first))
    #expect(dialogue.handle(.established("link")) == [.rest, .finish(1, .success("link"))])
  }

  @Test func aPeerThatIsNotHeardIsWaitedForAgain() {
    for event in [ConnectionAttempts<String>.Event.stopped, .creationFailed(.unknownConnectionIdentifier)] {
      var dialogue = creating()
      #expect(dialogue.handle(event) == [.abandonCreation, .listen(request())])
    }
    var dialogue = creating()
    #expect(dialogue.handle(.answered, .ended(.notHeard)) == [.listen(request())])
  }

  @Test func aKernelThatDoesNotConnectInTimeIsAskedAgain() throws {
    var dialogue = creating()
    let (pause, actions) = try dialogue.advance()
    #expect(pause == .seconds(4))
    guard case .note = actions.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(actions.dropFirst() == [.abandonCreation, .listen(request())])
    // In the other way.
    #expect(dialogue.attempts.keepsScan)
    // One that is connecting gets more time.
    _ = dialogue.handle(.heard, .prepared, .connecting)
    let (more, later) = try dialogue.advance()
    #expect(more == .seconds(4))
    #expect(later == [])
    #expect(dialogue.handle(.answered) == [])
  }

  @Test func cancellingClosesTheSocketAndEndsAtOnce() {
    var dialogue = creating()
    _ = dialogue.add(2)
    #expect(
      dialogue.end(1) == [.abandonCreation, .listen(request()), .finish(1, .failure(.cancelled))])
    #expect(dialogue.handle(.answered, of: 1) == [])
    #expect(dialogue.attempts.isListening)
  }

  @Test func aLostAdapterClosesTheSocketAndEndsAll() {
    var dialogue = creating()
    _ = dialogue.add(2)
    #expect(
      dialogue.attempts.fail(.notReady)
        == [.abandonCreation, .finish(1, .failure(.notReady)), .finish(2, .failure(.notReady))])
  }
}
