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
    let arguments = LeadingOptions.moved(Array(CommandLine.arguments.dropFirst()), for: Commands.all)
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

/// The start of the process, while it has one thread.
enum Startup {
  /// Descriptors that any command needs: the loop's, the signals', a file, a socket.
  private static let descriptorsNeeded = 8

  /// Ends the process if the limits are too low, executes the privileged program if the command needs it, and drops all
  /// other privileges.
  ///
  /// - Returns: whether this thread has real-time scheduling for the loop's thread to inherit
  static func prepare(_ arguments: [String]) -> Bool {
    occupyStandardStreams()
    guard canOpen(descriptorsNeeded) else {
      Console.errorDirectly("too few file descriptors are free; raise the limit with: ulimit -n 64")
      exit(ExitCode.systemError.rawValue)
    }
    let need = PrivilegeNeed(arguments)
    if need == .adapter, let own = try? ThreadCapabilities.current(), !own.effective.contains(.netRaw) {
      PrivilegedProgram.become()
    }
    do throws(Failure) {
      let isRealTime = try RealTime.begin(arguments)
      Privileges.confine()
      if need == .nothing { try Privileges.dropAll() }
      return isRealTime
    } catch {
      Console.errorDirectly(error.message)
      exit(error.code.rawValue)
    }
  }

  /// Opens a descriptor for each closed standard stream, as glibc does for privileged programs: input has ended, and output
  /// fails. If not, a descriptor of the loop would take its place and receive the output.
  private static func occupyStandardStreams() {
    for (descriptor, mode) in [
      (STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
    ]
    where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", mode)
    }
  }

  private static func canOpen(_ count: Int) -> Bool {
    let opened = (0..<count).map { _ in socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }
    for descriptor in opened where descriptor >= 0 { close(descriptor) }
    return !opened.contains { $0 < 0 }
  }
}

/// Why a command line needs more than its user's rights.
enum PrivilegeNeed: Equatable {
  case nothing
  /// A device or a port that only root may open; capabilities do not help.
  case device
  /// An adapter of the kernel.
  case adapter

  /// A wrong command line needs nothing.
  init(_ arguments: [String]) {
    guard let invocation = Invocation(early: arguments) else {
      self = .nothing
      return
    }
    switch invocation.command.name {
    case "adapters", "doctor", "record": self = .adapter
    case "simulate": self = .device
    // The folder of bluetoothd is root's.
    case "bonds" where invocation.positionals.first == "import": self = .device
    // Commands of other users answer root only.
    case "status": self = .device
    case "history" where invocation[storedOption]: self = .nothing
    case _ where invocation.command.usesAdapter: self = Self.adapter(invocation)
    default: self = .nothing
    }
  }

  private static func adapter(_ invocation: Invocation) -> PrivilegeNeed {
    switch try? invocation.adapter {
    case .kernel, .user: .adapter
    case .tcp, .unix, .serial: .device
    case .virtual, .air, .replay, nil: .nothing
    }
  }
}
