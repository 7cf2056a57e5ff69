/// The states that a link layer can have at the same time (Core Specification Vol 4, Part E, 7.8.27); those of which the host
/// makes a decision.
struct LEStates: OptionSet, Hashable {
  let rawValue: UInt64

  /// The combination of initiating a link and advertising.
  static func initiating(while advertising: Advertising.Kind) -> LEStates {
    let bit: UInt64 =
      switch advertising {
      case .nonConnectable: 16
      case .scannable: 17
      case .connectable: 32
      case .directed(_, isHighDuty: true): 33
      case .directed(_, isHighDuty: false): 34
      }
    return LEStates(rawValue: 1 << bit)
  }
}
