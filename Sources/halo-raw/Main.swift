import HaloCommands

/// The program. Everything it does is in `Sources/Program`.
@main
enum Main {
  /// Not `async`: signals must be blocked before the runtime creates its first thread, which would receive them.
  static func main() { Program.run() }
}
