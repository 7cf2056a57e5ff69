import Glibc

/// When output is colored.
package enum ColorChoice: Sendable {
  /// As the environment says, else on a terminal that knows control sequences.
  case auto
  case always
  case never

  /// Whether output to a descriptor is colored.
  package func isUsed(on descriptor: Int32) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .auto:
      Self.choice(of: { name in getenv(name).map { String(cString: $0) } })
        ?? Terminal.canDraw(on: descriptor)
    }
  }

  /// The choice of the environment (https://no-color.org, https://bixense.com/clicolors).
  ///
  /// - Parameter variable: the value of a variable; nil if it is not set
  /// - Returns: nil if the terminal decides
  static func choice(of variable: (String) -> String?) -> Bool? {
    if variable("NO_COLOR")?.isEmpty == false { return false }
    if let force = variable("CLICOLOR_FORCE"), !["", "0"].contains(force) { return true }
    return variable("CLICOLOR") == "0" ? false : nil
  }
}
