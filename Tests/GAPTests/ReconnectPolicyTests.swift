import GAP
import HCI
import HaloBluetoothCore
import TestSupport
import Testing

/// The way to data, as tables of events: what failed and when, and what is done next.
///
/// Reports of such radios and peers: links that end with 0x3E in the first requests (github.com/abandonware/noble, issue 62;
/// noble/noble, 751), again and again for minutes (RPi-Distro/bluez-firmware, 12); scans that fall silent after hours
/// (espressif/esp-idf, 924; bluez/bluez, 1126; abandonware/noble, 79); a ring that is found only by attempts and scans in turn
/// (foureight84/PulseLoopAndroid, 13).
@Suite struct ReconnectPolicyTests {
  /// A policy with its clock.
  private struct Way {
    var policy: ReconnectPolicy
    var now = Instant.zero
    var last = ReconnectPolicy.Action.giveUp

    init(
      first: Duration = .seconds(30), later: Duration = .seconds(60), waitsUntilReady: Bool = false,
      isKnown: Bool = true, canSearch: Bool = true
    ) {
      policy = ReconnectPolicy(
        .init(first: first, later: later, waitsUntilReady: waitsUntilReady), isKnown: isKnown,
        canSearch: canSearch)
      last = policy.begin(at: now)
    }

    mutating func succeed(after time: Duration = .zero) -> ReconnectPolicy.Action {
      now = now + time
      last = policy.succeeded(last, at: now)
      return last
    }

    mutating func fail(_ fault: StackError.Fault, after time: Duration = .zero) -> ReconnectPolicy.Action {
      now = now + time
      last = policy.failed(fault, at: now)
      return last
    }

    /// Goes on until data flow.
    mutating func flow() {
      for _ in 0..<10 where last != .flow { _ = succeed() }
      policy.dataFlow()
    }

    /// What follows a failure and its pause.
    mutating func next(after fault: StackError.Fault) -> ReconnectPolicy.Action {
      let action = fail(fault)
      guard case .pause(let pause) = action else { return action }
      return succeed(after: pause)
    }
  }

  @Test func aPeerThatIsNotKnownIsFoundFirst() {
    var way = Way(isKnown: false)
    #expect(way.last == .find(within: .seconds(30)))
    #expect(way.succeed(after: .seconds(4)) == .connect(within: .seconds(10)))
    #expect(way.succeed() == .open(within: .seconds(26)))
    #expect(way.succeed() == .start)
    #expect(way.succeed() == .flow)
    #expect(way.policy.phase == .flow)
  }

  @Test func aKnownPeerIsConnectedToAtItsAddress() {
    #expect(Way().last == .connect(within: .seconds(10)))
  }

  /// A stream over a loss: the first attempt is made at once, the next ones after pauses that grow.
  @Test func aLinkThatIsLostIsMadeAgainWithGrowingPauses() {
    var way = Way(canSearch: false)
    way.flow()
    #expect(way.fail(.link, after: .seconds(100)) == .connect(within: .seconds(10)))
    var pauses: [Duration] = []
    for _ in 0..<9 {
      guard case .pause(let pause) = way.fail(.absence) else { break }
      pauses.append(pause)
      #expect(way.succeed() == .connect(within: .seconds(10)))
    }
    #expect(pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
  }

  /// The budget is that of the whole way: links that are made and lost again do not renew it.
  @Test func onlyDataRenewTheBudget() {
    var way = Way()
    way.flow()
    #expect(way.fail(.link, after: .seconds(100)) == .connect(within: .seconds(10)))
    _ = way.succeed(after: .seconds(50))
    #expect(way.last == .open(within: .seconds(10)))
    guard case .pause(let pause) = way.fail(.link, after: .seconds(1)) else {
      Issue.record("no second attempt")
      return
    }
    #expect(way.succeed(after: pause) == .connect(within: .seconds(9) - pause))
    #expect(way.fail(.link, after: .seconds(9)) == .giveUp)

    way = Way()
    way.flow()
    for _ in 0..<20 {
      #expect(way.fail(.link, after: .seconds(50)) == .connect(within: .seconds(10)))
      way.flow()
    }
  }

  @Test(arguments: [ReconnectPolicy.Phase.connect, .open, .start, .flow])
  func aLinkThatIsLostInAnyPhaseIsMadeAgain(phase: ReconnectPolicy.Phase) {
    for hasFlowed in [false, true] {
      var way = Way()
      if hasFlowed {
        way.flow()
        _ = way.fail(.link)
      }
      while way.policy.phase != phase { _ = way.succeed() }
      #expect(way.next(after: .link) == .connect(within: .seconds(10)))
      #expect(way.policy.phase == .connect)
    }
  }

  @Test func reconnectsToUnresponsivePeer() {
    var way = Way()
    way.flow()
    #expect(way.fail(.silence) == .connect(within: .seconds(10)))
    way.flow()
    _ = way.fail(.link, after: .seconds(1))
    _ = way.succeed()
    #expect(way.last == .open(within: .seconds(45)))
    #expect(way.next(after: .silence) == .connect(within: .seconds(10)))
  }

  @Test func withoutARetryTheSecondLinkIsNotMade() {
    var way = Way(later: .zero)
    // The first one is, until data have flowed.
    _ = way.succeed()
    #expect(way.next(after: .link) == .connect(within: .seconds(10)))
    way.flow()
    #expect(way.fail(.link) == .giveUp)
  }

  @Test func anAnswerOfThePeerIsNotRepeated() {
    for hasFlowed in [false, true] {
      var way = Way()
      if hasFlowed { way.flow() } else { _ = way.succeed() }
      #expect(way.fail(.final) == .giveUp)
    }
  }

  // MARK: Where the peer is

  /// A ring that is known has another address, or is searched at once: it may be another ring that is near.
  @Test func aPeerThatIsNotAtItsAddressAtFirstIsSearchedAtOnce() {
    var way = Way()
    #expect(way.fail(.absence, after: .seconds(10)) == .pause(.milliseconds(250)))
    #expect(way.succeed() == .find(within: .seconds(20)))
  }

  @Test func aPeerThatIsNotAtItsAddressIsSearched() {
    var way = Way()
    way.flow()
    _ = way.fail(.link)
    #expect(way.next(after: .absence) == .connect(within: .seconds(10)))
    guard case .find = way.next(after: .absence) else {
      Issue.record("not searched: \(way.last)")
      return
    }
    // It goes on searching: a peer at its old address is found, too.
    guard case .find = way.next(after: .absence) else {
      Issue.record("not searched: \(way.last)")
      return
    }
    #expect(way.succeed() == .connect(within: .seconds(10)))
    // It was heard: it is connected to again.
    #expect(way.next(after: .absence) == .connect(within: .seconds(10)))
  }

  @Test func aSearchTakesThirtySecondsAtATime() {
    var way = Way(later: .seconds(86_400))
    way.flow()
    _ = way.fail(.link)
    _ = way.next(after: .absence)
    #expect(way.next(after: .absence) == .find(within: .seconds(30)))
  }

  // MARK: Peers that are not ready

  @Test func aPeerThatIsNotReadyIsAskedAgainOnItsLink() {
    var way = Way()
    way.flow()
    #expect(way.fail(.unready) == .pause(.milliseconds(250)))
    #expect(way.succeed(after: .milliseconds(250)) == .start)
    #expect(way.fail(.unready) == .pause(.milliseconds(500)))
  }

  /// A ring on its charger: the user is told at once, unless a service waits for it.
  @Test(arguments: [false, true])
  func aPeerThatIsNotReadyAtFirst(isWaitedFor: Bool) {
    var way = Way(waitsUntilReady: isWaitedFor)
    _ = way.succeed()
    _ = way.succeed()
    #expect(way.last == .start)
    #expect(way.fail(.unready) == (isWaitedFor ? .pause(.milliseconds(250)) : .giveUp))
  }

  // MARK: Controllers

  @Test func aControllerThatRefusesOnceIsAskedAgain() {
    var way = Way()
    #expect(way.fail(.refusal) == .pause(.milliseconds(250)))
    #expect(way.succeed() == .connect(within: .seconds(10)))
    #expect(way.fail(.refusal) == .pause(.milliseconds(500)))
    _ = way.succeed()
    #expect(way.fail(.refusal) == .pause(.seconds(1)))
    #expect(way.succeed(after: .seconds(1)) == .recover(within: .seconds(29)))
    #expect(way.succeed() == .connect(within: .seconds(10)))
    // It has been reset: it may refuse again.
    #expect(way.fail(.refusal) == .pause(.seconds(2)))
    #expect(way.succeed() == .connect(within: .seconds(10)))
  }

  @Test func otherFailuresDoNotResetRefusalCount() {
    var way = Way(first: .seconds(3600), canSearch: false)
    for _ in 0..<10 {
      for fault in [StackError.Fault.refusal, .refusal, .absence] {
        #expect(way.next(after: fault) == .connect(within: .seconds(10)))
      }
    }
  }

  @Test func recoversControllerWithinTheBudget() {
    var way = Way()
    #expect(way.fail(.controller, after: .seconds(4)) == .recover(within: .seconds(26)))
    #expect(way.succeed(after: .seconds(6)) == .connect(within: .seconds(10)))
    way.flow()
    #expect(way.fail(.controller, after: .seconds(1000)) == .recover(within: .seconds(60)))
    #expect(way.fail(.controller, after: .seconds(60)) == .giveUp)
  }

  /// A controller that fails again as soon as it was recovered, and one that cannot be recovered yet.
  @Test(arguments: [false, true]) func aControllerThatFailsAgainIsLeftAloneFirst(isRecovered: Bool) {
    var way = Way()
    #expect(way.fail(.controller) == .recover(within: .seconds(30)))
    for pause in [500, 1000, 2000, 4000, 8000] {
      if isRecovered { #expect(way.succeed() == .connect(within: .seconds(10))) }
      #expect(way.fail(.controller) == .pause(.milliseconds(pause)))
      guard case .recover = way.succeed(after: .milliseconds(pause)) else {
        Issue.record("\(way.last)")
        return
      }
    }
    #expect(way.fail(.controller) == .giveUp, "the next pause is longer than what is left of 30 s")
  }

  // MARK: Any order of events

  /// Equal failures at one instant are followed by one action at most, and then by pauses, in each phase, whether data have
  /// flowed or flow for no time in between: nothing is repeated at the rate at which it fails.
  @Test(arguments: [StackError.Fault.link, .silence, .absence, .refusal, .controller, .unready])
  func failuresPassTime(_ fault: StackError.Fault) {
    for (phases, flowsBetween) in (0...3).flatMap({ [($0, false), ($0, true)] }) {
      var way = Way(first: .forever, later: .forever, waitsUntilReady: true)
      for _ in 0..<phases { _ = way.succeed() }
      var atOnce = 0
      for _ in 0..<1000 {
        if flowsBetween { way.policy.dataFlow() }
        let action = way.fail(fault)
        if case .pause(let pause) = action {
          #expect(pause >= .milliseconds(250))
        } else {
          atOnce += 1
        }
      }
      #expect(atOnce <= 1, "after \(phases) phases")
    }
  }

  /// Whatever happens: each action has a positive time, pauses are bounded, and no phase begins when the budget is over,
  /// except those of a link that was made at the last moment.
  @Test func everyFaultSequenceTerminates() {
    var random = SeededGenerator(seed: 37)
    let faults: [StackError.Fault] = [
      .link, .silence, .absence, .refusal, .controller, .unready, .final,
    ]
    for _ in 0..<3000 {
      var way = Way(
        first: .seconds(.random(in: 1...90, using: &random)),
        later: .seconds(.random(in: 0...200, using: &random)),
        waitsUntilReady: .random(using: &random), isKnown: .random(using: &random),
        canSearch: .random(using: &random))
      var began = way.now
      var budget = way.policy.deadline! - way.now
      steps: for _ in 0..<400 {
        let time: Duration
        switch way.last {
        case .giveUp: break steps
        case .flow:
          way.policy.dataFlow()
          #expect(way.policy.deadline == nil)
          if way.fail(.link, after: .seconds(5)) == .giveUp { break steps }
          began = way.now
          budget = way.policy.deadline! - way.now
          continue
        case .pause(let pause):
          #expect(pause > .zero && pause <= .seconds(30))
          _ = way.succeed(after: pause)
          continue
        case .start: time = .seconds(30)
        case .find(let limit), .connect(let limit), .open(let limit), .recover(let limit):
          #expect(limit >= .milliseconds(500))
          time = limit
        }
        // A link that was made at the last moment is opened and used.
        #expect(way.now <= began + budget + .seconds(6), "\(way.last)")
        if .random(in: 0..<3, using: &random) > 0 {
          _ = way.succeed(after: time * .random(in: 0...1, using: &random))
        } else {
          _ = way.fail(
            faults.randomElement(using: &random)!,
            after: time * .random(in: 0...1, using: &random))
        }
      }
    }
  }
}
