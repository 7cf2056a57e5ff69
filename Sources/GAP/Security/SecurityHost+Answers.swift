import HaloBluetoothCore
import HaloSecurityManager

extension PairingPolicy {
  /// Whether it allows a pairing with anybody.
  package var pairs: Bool { self == .justWorks || self == .ask }
}

extension SecurityHost {
  /// Answers a question of a pairing that is not made by this package, by the settings or by the agent.
  ///
  /// - Parameter answer: called once at most, at once or later
  package func answer(
    _ question: PairingQuestion, about peer: BluetoothAddress, _ answer: @escaping (PairingAnswer) -> Void
  ) {
    if question == .allow, settings.requiresAuthentication { return answer(.refuse) }
    switch settings.policy {
    case .never, .encryptOnly: answer(.refuse)
    case .justWorks: answer(question == .allow ? .accept : .refuse)
    case .ask:
      guard let agent else { return answer(.refuse) }
      let once = OneShot(answer)
      agent.ask(question, about: peer) { once($0) }
    }
  }
}
