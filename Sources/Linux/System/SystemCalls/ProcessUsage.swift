import Glibc

/// The resources that this process has used so far (getrusage(2)).
package struct ProcessUsage: Sendable {
  /// CPU time of all threads, in user and kernel mode.
  package var cpu: Duration
  /// How often a thread has waited for something, and was woken up for it.
  package var wakeUps: Int

  /// As of now.
  package static var current: ProcessUsage {
    var usage = rusage()
    _ = getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func duration(_ time: timeval) -> Duration {
      .seconds(Int64(time.tv_sec)) + .microseconds(Int64(time.tv_usec))
    }
    return ProcessUsage(cpu: duration(usage.ru_utime) + duration(usage.ru_stime), wakeUps: usage.ru_nvcsw)
  }

  package static func - (later: ProcessUsage, earlier: ProcessUsage) -> ProcessUsage {
    ProcessUsage(cpu: later.cpu - earlier.cpu, wakeUps: later.wakeUps - earlier.wakeUps)
  }
}
