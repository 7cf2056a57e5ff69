import BluetoothCore
import EventLoop
import Glibc

@main
enum Main {
  static let version = "0.1.0"

  /// Not `async`: signals must be blocked before the runtime has made its first thread, or one that has not
  /// blocked them would get them.
  static func main() {
    SignalSource.block([SIGINT, SIGTERM])
    signal(SIGPIPE, SIG_IGN)
    let words = Array(CommandLine.arguments.dropFirst())
    Startup.prepare(words)
    // The loop's thread exists from here on, with a copy of this one's capabilities.
    EventLoop.run {}
    Privileges.renounceOnMainThread()
    EventLoop.run { exit(await run(words).rawValue) }
    while true { pause() }
  }

  @BluetoothActor
  private static func run(_ words: [String]) async -> ExitCode {
    do throws(Failure) {
      try await perform(words)
      return .success
    } catch {
      if !error.message.isEmpty { Console.error("halo-raw: \(error.message)") }
      return error.code
    }
  }

  /// Runs the command that `words` name.
  @BluetoothActor
  static func perform(_ words: [String]) async throws(Failure) {
    guard let name = words.first else {
      throw .usage("which command? See halo-raw --help, or try: halo-raw stream --ppg --adapter virtual")
    }
    switch name {
    case "-h", "--help", "help":
      if words.count > 1 { return try Console.print(Help.of(Commands.named(words[1]))) }
      return try Console.print(Help.overview(Commands.groups))
    case "--version":
      return try Console.print("halo-raw \(version)\n")
    default: break
    }
    let command = try Commands.named(name)
    let invocation = try Invocation(parsing: Array(words.dropFirst()), for: command)
    if invocation.has("--help") { return try Console.print(Help.of(command)) }
    try NamedFiles(invocation, of: command).check()
    try await command.run(invocation)
  }
}
