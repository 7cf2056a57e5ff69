import HaloBluetoothCore
import HaloCommandLine

extension CommandSpec {
  /// - Parameter usesAdapter: whether it uses an adapter to reach a device, and so takes the options for adapters
  init(
    name: String, arguments: String = "", summary: String, positionals: ClosedRange<Int>,
    file: FileUse? = nil,
    options: [any CommandOption] = [], rules: [OptionRule] = [], examples: [(line: String, does: String)],
    details: @escaping @autoclosure @Sendable () -> String = "", usesAdapter: Bool = true,
    wrapsCommand: Bool = false, run: @escaping @BluetoothActor (Invocation) async throws(Failure) -> Void
  ) {
    self.init(
      name: name, arguments: arguments, summary: summary, positionals: positionals, file: file,
      options: options,
      rules: rules, examples: examples, details: details(),
      sharedOptions: usesAdapter ? CommonOptions.all : [],
      wrapsCommand: wrapsCommand, run: run)
  }

  /// Whether it takes the options for adapters.
  var usesAdapter: Bool { !sharedOptions.isEmpty }
}
