import EventLoop
import Glibc
import HCI

/// What is done before there is a second thread, by what the command line asks for.
enum Startup {
  /// Descriptors that any command needs: the loop's, the signals', a file, a socket.
  private static let descriptorsNeeded = 8

  /// Ends the process if it can't work, becomes the program with the privileges that the command needs, and gives up
  /// those that it does not need.
  static func prepare(_ words: [String]) {
    occupyStandardStreams()
    guard canOpen(descriptorsNeeded) else {
      Console.errorDirectly("too few file descriptors are free; raise the limit with: ulimit -n 64")
      exit(ExitCode.systemError.rawValue)
    }
    let need = PrivilegeNeed(words)
    if need == .adapter, let own = try? ThreadCapabilities.current(), !own.effective.contains(.netRaw) {
      PrivilegedProgram.become()
    }
    Privileges.confine()
    guard need == .nothing else { return }
    do throws(Failure) {
      try Privileges.dropAll()
    } catch {
      Console.errorDirectly(error.message)
      exit(error.code.rawValue)
    }
  }

  /// Standard streams that are closed get a descriptor that can't be used, as glibc gives them to privileged programs:
  /// else one that the loop opens takes their place, and output goes there.
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

/// For what a command line needs more than its user's rights.
enum PrivilegeNeed: Equatable {
  case nothing
  /// A device or a port that only root may open; capabilities do not help.
  case device
  /// An adapter of the kernel.
  case adapter

  /// A command line that is wrong needs nothing.
  init(_ words: [String]) {
    guard let name = words.first, let command = try? Commands.named(name),
      let invocation = try? Invocation(parsing: Array(words.dropFirst()), for: command),
      !invocation.has("--help")
    else {
      self = .nothing
      return
    }
    switch command.name {
    case "adapters", "doctor", "record": self = .adapter
    case "simulate": self = .device
    case "history" where invocation.has("--stored"): self = .nothing
    case _ where command.usesAdapter: self = Self.adapter(invocation)
    default: self = .nothing
    }
  }

  private static func adapter(_ invocation: Invocation) -> PrivilegeNeed {
    guard let text = invocation.adapterText else { return .adapter }
    return switch try? AdapterSpec(text) {
    case .kernel, .user: .adapter
    case .tcp, .unix, .serial: .device
    case .virtual, .replay, nil: .nothing
    }
  }
}

extension Invocation {
  /// The adapter that the option names, or else the environment.
  var adapterText: String? { text("--adapter") ?? getenv("HALO_ADAPTER").map { String(cString: $0) } }
}
