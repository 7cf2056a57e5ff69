import Glibc
import HaloCommandLine

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

  /// Opens an unusable descriptor for each closed standard stream, as glibc does for privileged programs. If not, a
  /// descriptor of the loop would take its place and receive the output.
  private static func occupyStandardStreams() {
    for (descriptor, mode) in [
      (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
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
