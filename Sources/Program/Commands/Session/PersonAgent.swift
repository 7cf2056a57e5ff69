import GAP
import HaloBluetoothCore
import HaloCommandLine
import HaloSecurityManager

/// What a person sees and types in a pairing.
enum PairingInterface {
  static let option = Option(
    "--interface",
    as: .choice(
      "KIND",
      [
        ("none", IOCapability.noInputNoOutput), ("display", .displayOnly), ("confirm", .displayYesNo),
        ("keyboard", .keyboardOnly), ("both", .keyboardDisplay),
      ]), help: "what you see and type in a pairing: none, display, confirm, keyboard, both")
}

/// Asks a person about pairings: questions are printed, and lines are answers.
///
/// The texts name the act, as a number that is meant for one act can be misused for another one: who types a number at a device
/// that is only to be compared lets a third device in (method confusion).
@BluetoothActor
final class PersonAgent: PairingAgent {
  let ioCapability: IOCapability
  /// Whether a device that can't show who it is is paired with without a question: the person has just asked for it.
  private let allowsJustWorks: Bool
  /// Whether lines that come before their question are kept for it.
  private let keepsLines: Bool
  private var early: [String] = []
  private var hasEnded = false
  private static let mostEarly = 16
  private let print: (String) -> Void
  private var open: (question: PairingQuestion, answer: (PairingAnswer) -> Void)?
  /// Called when a line is wanted as an answer.
  var onQuestion: () -> Void = {}

  init(
    _ ioCapability: IOCapability, allowsJustWorks: Bool, keepsLines: Bool = false,
    print: @escaping (String) -> Void
  ) {
    self.ioCapability = ioCapability
    self.allowsJustWorks = allowsJustWorks
    self.keepsLines = keepsLines
    self.print = print
  }

  func ask(
    _ question: PairingQuestion, about peer: BluetoothAddress, answer: @escaping (PairingAnswer) -> Void
  ) {
    switch question {
    case .allow where allowsJustWorks: return answer(.accept)
    case .allow:
      print("\(peer) wants to pair, and can't show that it is the device that you mean. Pair? (yes or no)")
    case .compare(let number):
      print(
        "Compare: does \(peer) show \(Passkey.text(number))? (yes or no) Do not type this number anywhere.")
    case .enterPasskey: print("Type the six digits that \(peer) shows; \"no\" gives up.")
    case .showPasskey(let number):
      print("Type \(Passkey.text(number)) at \(peer), and nowhere else.")
      return
    }
    open = (question, answer)
    onQuestion()
    while open != nil, !early.isEmpty { _ = take(early.removeFirst()) }
    guard open != nil, hasEnded else { return }
    print("Standard input has ended: nobody can answer.")
    _ = take(nil)
  }

  func pairingEnded(with peer: BluetoothAddress, _ error: StackError?) { open = nil }

  /// Takes a line that was typed, or the end of the input.
  ///
  /// - Returns: whether it is an answer
  func take(_ line: String?) -> Bool {
    if line == nil { hasEnded = true }
    guard let (question, answer) = open else {
      if keepsLines, let line, early.count < Self.mostEarly { early.append(line) }
      return false
    }
    guard let reply = Self.reply(line, to: question) else {
      print(question == .enterPasskey ? "Type six digits, or \"no\"." : "Type yes or no.")
      onQuestion()
      return true
    }
    open = nil
    answer(reply)
    return true
  }

  /// - Returns: nil if the line is no answer
  private static func reply(_ line: String?, to question: PairingQuestion) -> PairingAnswer? {
    guard let word = line?.lowercased().filter({ !$0.isWhitespace }) else { return .refuse }
    if ["no", "n"].contains(word) { return .refuse }
    if question == .enterPasskey {
      guard word.utf8.count == 6, word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        return nil
      }
      return UInt32(word).map { .passkey($0) }
    }
    return ["yes", "y"].contains(word) ? .accept : nil
  }
}
