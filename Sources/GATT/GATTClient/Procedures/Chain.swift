import ATT
import HaloBluetoothCore

/// Two procedures as one: the second is made from the output of the first, and follows it at once. The output is nil if the
/// first has not found the input of the second.
struct Chain<First: GATTProcedure, Second: GATTProcedure>: GATTProcedure {
  private var first: First
  private var second: Second?
  private let make: (First.Output) -> Second?

  fileprivate init(_ first: First, _ make: @escaping (First.Output) -> Second?) {
    self.first = first
    self.make = make
  }

  mutating func start() -> GATTStep<Second.Output?> { goOn(first.start()) }

  mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<Second.Output?> {
    if let step = second?.next(result) { output(of: step) } else { goOn(first.next(result)) }
  }

  private mutating func goOn(_ step: GATTStep<First.Output>) -> GATTStep<Second.Output?> {
    switch step {
    case .request(let pdu): return .request(pdu)
    case .failed(let error): return .failed(error)
    case .done(let found):
      second = make(found)
      guard let step = second?.start() else { return .done(nil) }
      return output(of: step)
    }
  }

  private func output(of step: GATTStep<Second.Output>) -> GATTStep<Second.Output?> {
    switch step {
    case .request(let pdu): .request(pdu)
    case .failed(let error): .failed(error)
    case .done(let output): .done(output)
    }
  }
}

extension GATTProcedure {
  /// This procedure, and one after it.
  func then<Next: GATTProcedure>(_ make: @escaping (Output) -> Next?) -> Chain<Self, Next> {
    Chain(self, make)
  }
}
