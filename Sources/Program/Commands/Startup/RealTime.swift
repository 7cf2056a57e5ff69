import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem

/// Real-time scheduling: as soon as a packet is there, the loop's thread runs before all other programs (sched(7)), and its
/// memory is never written to disk (mlockall(2)).
///
/// The rights for it are those of the main thread at the start. A thread inherits its scheduling from the one that makes
/// it: the loop's thread gets it from the main thread, which then gives it up. Helper threads never have it.
enum RealTime {
  static let isWanted = Flag(
    "--realtime", help: "run before other programs, and keep all memory in RAM; needs sudo or raised limits")
  static let pollsBusily = Flag(
    "--busy-poll", help: "with --realtime: look for packets without a pause; takes a whole processor")
  static let options: [any CommandOption] = [isWanted, pollsBusily]

  static let details = """
    With --realtime, the program runs as soon as a packet is there, whatever else the computer does (SCHED_FIFO), and its
    memory stays in RAM. That needs sudo, or the limits rtprio and memlock (ulimit -r 20, ulimit -l unlimited). With
    --busy-poll it does not sleep between packets, which saves the time of waking up and takes a whole processor.
    """

  private static let lockedMemory = __rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue)
  /// Below the kernel's interrupt threads, which have 50: they bring the packets.
  private static let priority: Int32 = 20

  /// Gives this thread, the only one of the process, real-time scheduling, if the command line asks for it.
  ///
  /// - Returns: whether it did
  static func begin(_ arguments: [String]) throws(Failure) -> Bool {
    guard arguments.contains(isWanted.spec.names[0]), let invocation = Invocation(early: arguments),
      invocation[isWanted]
    else { return false }
    try lockMemory()
    do throws(SystemError) {
      try schedule(SCHED_FIFO, priority)
    } catch {
      throw Failure(
        .noPermission,
        "real-time scheduling is not permitted (\(error)); use sudo, or raise the limit with: ulimit -r \(priority)"
      )
    }
    return true
  }

  /// Takes it from this thread, once the loop's thread has it.
  static func endOnMainThread() {
    // Less is always permitted.
    try? schedule(SCHED_OTHER, 0)
  }

  /// Throws if the command line asks for busy polling only.
  @BluetoothActor
  static func apply(_ invocation: Invocation) throws(Failure) {
    guard invocation[pollsBusily] else { return }
    guard invocation[isWanted] else { throw .usage("--busy-poll needs --realtime") }
    EpollLoop.shared.pollBusily()
  }

  private static func schedule(_ policy: Int32, _ priority: Int32) throws(SystemError) {
    var parameters = sched_param()
    parameters.sched_priority = priority
    try retryingInterrupts("sched_setscheduler") { sched_setscheduler(0, policy, &parameters) }
  }

  /// Locks the present memory. Later memory is locked, too, if the limit can be switched off: a process that reaches the limit
  /// gets no more memory.
  private static func lockMemory() throws(Failure) {
    var limit = rlimit(rlim_cur: rlim_t.max, rlim_max: rlim_t.max)
    let isUnlimited = setrlimit(lockedMemory, &limit) == 0
    do throws(SystemError) {
      try retryingInterrupts("mlockall") { mlockall(isUnlimited ? MCL_CURRENT | MCL_FUTURE : MCL_CURRENT) }
    } catch {
      throw Failure(
        .noPermission,
        "memory can't be locked (\(error)); use sudo, or raise the limit with: ulimit -l unlimited")
    }
  }
}
