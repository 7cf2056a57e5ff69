import Glibc
import HaloBluetoothCore
import HaloSystem

/// Drops the privileges that the program does not need.
///
/// Capabilities belong to a *thread*, and no thread can drop those of another. Only user and group ids are changed for all
/// threads together, by glibc. Hence three steps:
///
/// 1. ``confine()``, in `main` while there is one thread: from here on no privilege can be gained, and later threads
///    inherit that. A command that needs no privilege drops all of them here (``dropAll()``).
/// 2. ``renounceOnMainThread()``, in `main` as soon as the loop's thread exists with a copy of the capabilities: the
///    main thread, which only sleeps from then on, drops its own.
/// 3. ``drop(keeping:)``, on the loop's thread when the sockets are open. Started by sudo, the process becomes the
///    invoking user. That takes all capabilities from every thread, except the loop's own, which asks to keep them
///    and then reduces them.
///
/// At the end, all threads are checked. The program ends if one has more than it should.
package enum Privileges {
  /// The access to an adapter, which decides on the privileges that are needed after its sockets are open.
  package enum Way {
    /// A raw socket of the kernel, which checks each command.
    case rawSocket
    /// The user channel, which the kernel checks once at bind; a byte stream, a virtual adapter or a recording.
    case other

    package var needs: Capabilities { self == .rawSocket ? [.netRaw] : [] }
  }

  /// Drops all ways to gain privileges. Call it before there is a second thread. Privileges that cannot be dropped for lack of
  /// a capability cannot be used either.
  package static func confine() {
    _ = Linux.noNewPrivileges()
    _ = Linux.clearAmbient()
    // Without CAP_SETPCAP the set can't be emptied; no_new_privs keeps it from being used.
    _ = Linux.clearBounding()
    if let current = try? ThreadCapabilities.current() { try? current.apply() }
  }

  /// Drops the capabilities of the main thread, unless ``drop(keeping:)`` will change the user, for which each thread
  /// needs them.
  package static func renounceOnMainThread() {
    guard InvokingUser.current() == nil else { return }
    try? ThreadCapabilities().apply()
  }

  /// The closure that does the same on each thread that only writes output. A thread that starts before
  /// ``drop(keeping:)`` changes the user keeps its capabilities until then.
  package static func renouncingOnHelperThreads() -> @Sendable () -> Void {
    let changesUser = InvokingUser.current() != nil
    return {
      guard !changesUser || geteuid() != 0 else { return }
      try? ThreadCapabilities().apply()
    }
  }

  /// Drops everything, before there is a second thread: a command that needs no privilege reads and writes with the rights
  /// of its user.
  package static func dropAll() throws(Failure) {
    do throws(SystemError) {
      if let invoker = InvokingUser.current() {
        try become(invoker)
        guard Linux.isUser(invoker.user, invoker.group) != 0 else {
          throw SystemError("setresuid", errno: EPERM)
        }
      }
      try ThreadCapabilities().apply()
      guard try ThreadCapabilities.current() == ThreadCapabilities() else {
        throw SystemError("capset", errno: EPERM)
      }
    } catch {
      throw Failure(
        .noPermission, "cannot drop privileges (\(error)); start it without them")
    }
  }

  /// The capabilities that the adapters need that were opened before another one.
  @BluetoothActor private static var neededBefore: Capabilities = []

  /// Drops the privileges that are not needed after the sockets are open. Files that are created afterwards belong to the
  /// invoking user.
  ///
  /// - Parameters:
  ///   - way: how the adapter is reached
  ///   - opensAnother: whether another adapter is opened, after which this is called again: nothing is dropped before
  @BluetoothActor
  package static func afterOpening(_ way: Way, opensAnother: Bool = false) throws(Failure) {
    if opensAnother {
      neededBefore.formUnion(way.needs)
    } else {
      try drop(keeping: way.needs.union(neededBefore))
    }
  }

  /// Becomes the invoking user if sudo started the program, and keeps of its capabilities only `kept`.
  ///
  /// - Throws: if the process still has more afterwards than it should
  @BluetoothActor
  package static func drop(keeping kept: Capabilities) throws(Failure) {
    do throws(SystemError) {
      let invoker = InvokingUser.current()
      let rest = ThreadCapabilities(
        permitted: try ThreadCapabilities.current().permitted.intersection(kept))
      if let invoker { try become(invoker) }
      try ThreadCapabilities(permitted: rest.permitted, effective: rest.permitted).apply()
      try check(rest.permitted, invoker)
    } catch {
      throw Failure(
        .noPermission, "cannot drop privileges (\(error)); start it without them")
    }
  }

  private static func become(_ user: InvokingUser) throws(SystemError) {
    // Only for this thread; the others lose everything.
    try retryingInterrupts("prctl") { Linux.keepCapabilities(1) }
    try retryingInterrupts("setresuid") { Linux.become(user.user, user.group, user.name) }
    try retryingInterrupts("prctl") { Linux.keepCapabilities(0) }
    // Stored files belong into the home of the invoking user.
    if let home = user.home { setenv("HOME", home, 1) }
  }

  /// Verifies the result instead of trusting the calls.
  @BluetoothActor
  private static func check(_ kept: Capabilities, _ user: InvokingUser?) throws(SystemError) {
    if let user, Linux.isUser(user.user, user.group) == 0 { throw SystemError("setresuid", errno: EPERM) }
    let current = try ThreadCapabilities.current()
    guard current == ThreadCapabilities(permitted: kept, effective: kept) else {
      throw SystemError("capset", errno: EPERM)
    }
    let own = "\(Linux.thread())"
    for thread in SmallFile.names(in: "/proc/self/task") where thread != own {
      var waits = 0
      while hasPrivileges(thread) {
        guard waits < longestEnding else { throw SystemError("thread \(thread)", errno: EPERM) }
        waits += 1
        usleep(1000)
      }
    }
  }

  /// How long a thread may take to end, in milliseconds. glibc leaves one that is ending as it is when it changes the user of
  /// all threads, so that it has its capabilities until it is gone, a moment later.
  private static let longestEnding = 500

  /// False for a thread that is gone.
  private static func hasPrivileges(_ thread: String) -> Bool {
    guard let status = SmallFile.text("/proc/self/task/\(thread)/status") else { return false }
    return ThreadCapabilities(procStatus: status) != ThreadCapabilities()
  }
}

/// The user who started the program with sudo.
struct InvokingUser: Hashable, Sendable {
  var user: uid_t
  var group: gid_t
  /// Nil for a user without an entry in the user database.
  var name: String?
  var home: String?

  /// The user in sudo's environment variables; nil without sudo, and if root itself used it.
  ///
  /// The variables only count for root: any other user may set them to anything.
  static func current() -> InvokingUser? {
    guard geteuid() == 0, let ids = ids(user: variable("SUDO_UID"), group: variable("SUDO_GID")) else {
      return nil
    }
    var result = InvokingUser(user: ids.user, group: ids.group)
    if let entry = getpwuid(ids.user) {
      result.name = String(cString: entry.pointee.pw_name)
      result.home = String(cString: entry.pointee.pw_dir)
    }
    return result
  }

  /// Reads the two ids. Neither may be missing, 0, or -1, which means "unchanged" to the kernel.
  static func ids(user: String?, group: String?) -> (user: uid_t, group: gid_t)? {
    guard let user = user.flatMap({ uid_t($0) }), let group = group.flatMap({ gid_t($0) }),
      user != 0, user != .max, group != .max
    else { return nil }
    return (user, group)
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
