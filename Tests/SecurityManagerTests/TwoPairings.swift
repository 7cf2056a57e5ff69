import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// What the user of a side does.
enum PairingUser: CaseIterable {
  /// Answers at once: types what the other side shows, and agrees to equal numbers.
  case right
  /// The same, when nothing else is to be done any more.
  case late
  /// Types another number.
  case wrong
  case refuses
  case absent
}

/// Two pairings with each other, over a link that loses nothing.
struct TwoPairings {
  struct Side {
    var pairing: Pairing
    let user: PairingUser
    fileprivate(set) var questions: [PairingQuestion] = []
    fileprivate(set) var results: [PairingResult] = []
    fileprivate(set) var failures: [PairingFailure] = []
    fileprivate(set) var sent = 0
    fileprivate var open: PairingQuestion?
    fileprivate var key: LongTermKey?

    var ends: Int { results.count + failures.count }

    fileprivate var shown: UInt32? {
      for case .showPasskey(let number) in questions { return number }
      return nil
    }
  }

  private(set) var sides: [Side]
  private var wire: [(receiver: Int, pdu: [UInt8])] = []
  /// The number that both type where neither shows one.
  private static let agreed: UInt32 = 90_210

  /// The central is the first side.
  init(
    _ central: PairingSetup, _ peripheral: PairingSetup, users: [PairingUser], library: any Cryptography
  ) {
    sides = [
      Side(pairing: Pairing(central, library), user: users[0]),
      Side(pairing: Pairing(peripheral, library), user: users[1]),
    ]
  }

  /// Runs both to their ends.
  ///
  /// - Returns: the number of steps; a pairing of 20 rounds has about 100
  mutating func run() -> Int {
    for index in [1, 0] { take(sides[index].pairing.begin(), index) }
    var steps = 0
    while steps < 1000, step() { steps += 1 }
    for index in 0...1 { take(sides[index].pairing.expire(), index) }
    return steps
  }

  private mutating func step() -> Bool {
    if !wire.isEmpty {
      let (receiver, pdu) = wire.removeFirst()
      take(sides[receiver].pairing.receive(pdu), receiver)
      return true
    }
    if let index = sides.indices.first(where: { sides[$0].open != nil && sides[$0].user != .absent }) {
      answer(index)
      return true
    }
    guard let key = sides[0].key else { return false }
    sides[0].key = nil
    let isSame = sides[1].pairing.pendingKey?.value == key.value
    if isSame { take(sides[1].pairing.encryptionChanged(isOn: true), 1) }
    take(sides[0].pairing.encryptionChanged(isOn: isSame), 0)
    return true
  }

  private mutating func take(_ outputs: [Pairing.Output], _ index: Int) {
    for output in outputs {
      switch output {
      case .send(let pdu):
        sides[index].sent += 1
        wire.append((1 - index, pdu))
      case .encrypt(let key): sides[index].key = key
      case .finished(let result): sides[index].results.append(result)
      case .failed(let failure): sides[index].failures.append(failure)
      case .ask(let question):
        sides[index].questions.append(question)
        sides[index].open = question
      }
    }
    if let question = sides[index].open, sides[index].user != .late, sides[index].user != .absent,
      question != .enterPasskey
    {
      answer(index)
    }
  }

  private mutating func answer(_ index: Int) {
    guard let question = sides[index].open else { return }
    sides[index].open = nil
    let user = sides[index].user
    if user == .refuses { return take(sides[index].pairing.userAnswered(.refuse), index) }
    switch question {
    case .showPasskey: break
    case .allow, .compare: take(sides[index].pairing.userAnswered(.accept), index)
    case .enterPasskey:
      let number = sides[1 - index].shown ?? Self.agreed
      take(
        sides[index].pairing.userAnswered(.passkey(user == .wrong ? number ^ UInt32(1 + index) : number)),
        index)
    }
  }
}
