import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem

/// The whole program, as a call.
package enum Program {
  /// Runs the command that the arguments of this process name, and ends the process.
  package static func run() -> Never {
    Termination.blockSignals()
    guard CommandLine.argc > 0 else {
      // Swift's runtime finds the arguments with the help of this file.
      Console.errorDirectly("cannot read the command line: /proc/self/maps cannot be opened; see ulimit -n")
      exit(ExitCode.systemError.rawValue)
    }
    let arguments = Commands.inOrder(CommandLine.arguments.dropFirst())
    let isRealTime = Startup.prepare(arguments)
    HelperThread.setStartHook(Privileges.renouncingOnHelperThreads())
    do throws(SystemError) {
      // The loop's thread exists from here on, with a copy of this one's capabilities.
      try EpollLoop.prepare()
    } catch {
      Console.errorDirectly("cannot start (\(error)); raise the limits, see ulimit -a")
      exit(ExitCode.systemError.rawValue)
    }
    if isRealTime { RealTime.endOnMainThread() }
    Privileges.renounceOnMainThread()
    BluetoothActor.run { exit(await run(arguments).rawValue) }
    Termination.watch()
  }

  @BluetoothActor
  private static func run(_ arguments: [String]) async -> ExitCode {
    var code = ExitCode.success
    do throws(Failure) {
      let result = await outcome { try await perform(arguments) }
      // The first failure is the cause of the second. One without a message has said all on standard output.
      do throws(Failure) { try await Console.finish() } catch {
        if case .failure(let first) = result, !first.message.isEmpty { throw first }
        throw error
      }
      try result.get()
    } catch {
      if !error.message.isEmpty { Console.error("halo-raw: \(error.message)") }
      code = error.code
    }
    Console.finishStandardError()
    return code
  }

  /// Runs the command that the arguments name.
  @BluetoothActor
  static func perform(_ arguments: [String]) async throws {
    guard let name = arguments.first else {
      throw Failure.usage(
        "missing command; see halo-raw --help, or try: halo-raw stream --ppg --adapter virtual")
    }
    switch ProgramOption.named(name) {
    case .help:
      if arguments.count > 1 { return Console.print(try HelpPage.named(arguments[1]).text) }
      return Console.print(HelpPage.overview(Commands.groups).text)
    case .version:
      return Console.print("halo-raw \(HelpPage.version)\n")
    case nil: break
    }
    let command = try Commands.named(name)
    let invocation = try Invocation(arguments.dropFirst(), for: command)
    if invocation[CommonOptions.help] { return Console.print(HelpPage(command).text) }
    try invocation.checkFiles()
    try await command.run(invocation)
  }
}
