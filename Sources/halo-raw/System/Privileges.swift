import CPrivileges
import EventLoop
import Glibc

/// How the program gives up what it does not need.
///
/// Capabilities and the rights that belong to them are a *thread's*, and no thread can take them from another. Only
/// user and group ids are changed for all threads together, by glibc. Hence three steps:
///
/// 1. ``confine()``, in `main` while there is one thread: no privilege can be gained any more, and all threads that
///    are made later inherit that. A command that needs no privilege gives all up here (``dropAll()``), and is done.
/// 2. ``renounceOnMainThread()``, in `main` as soon as the loop's thread exists with a copy of the capabilities: the
///    main thread, which only sleeps from there on, gives its own up.
/// 3. ``drop(keeping:)``, on the loop's thread when the sockets are open. Started by sudo, the process becomes the
///    invoking user. That takes all capabilities from every thread, except the loop's own, which asks to keep them
///    and then reduces them.
///
/// At the end all threads are looked at. The program does not go on with more than it wanted to keep.
enum Privileges {
  /// By which way a radio is reached: what it still needs when its sockets are open.
  enum Way {
    /// A raw socket of the kernel, whose commands are checked one by one.
    case rawSocket
    /// The user channel, which was checked when it was bound; a byte stream, a virtual adapter, a recording.
    case other

    var needs: Capabilities { self == .rawSocket ? [.netRaw] : [] }
  }

  /// Gives up all ways to gain privileges. To be called before there is a second thread. What can't be given up,
  /// since a capability for that is missing, can't be used either.
  static func confine() {
    _ = halo_no_new_privileges()
    _ = halo_ambient_clear()
    // Without CAP_SETPCAP the set can't be emptied; no_new_privs keeps it from being used.
    _ = halo_bounding_clear()
    if let current = try? ThreadCapabilities.current() { try? current.apply() }
  }

  /// Gives up the main thread's own capabilities. Not if ``drop(keeping:)`` will change the user: for that each thread
  /// needs to be allowed to.
  static func renounceOnMainThread() {
    guard InvokingUser.current() == nil else { return }
    try? ThreadCapabilities().apply()
  }

  /// Gives the closure that does the same on each thread that only writes output. A thread that is started before
  /// ``drop(keeping:)`` changes the user has to be allowed to do so, and loses all with the change.
  static func renouncingOnHelperThreads() -> @Sendable () -> Void {
    let changesUser = InvokingUser.current() != nil
    return {
      guard !changesUser || geteuid() != 0 else { return }
      try? ThreadCapabilities().apply()
    }
  }

  /// Gives up everything, before there is a second thread: what a command that needs no privilege reads and writes, it
  /// does with the rights of its user.
  static func dropAll() throws(Failure) {
    do throws(SystemError) {
      if let invoker = InvokingUser.current() {
        try become(invoker)
        guard halo_is(invoker.user, invoker.group) != 0 else { throw SystemError("setresuid", errno: EPERM) }
      }
      try ThreadCapabilities().apply()
      guard try ThreadCapabilities.current() == ThreadCapabilities() else {
        throw SystemError("capset", errno: EPERM)
      }
    } catch {
      throw Failure(
        .noPermission, "privileges can't be given up (\(error)); not going on with more than needed")
    }
  }

  /// Gives up what is not needed any more once the sockets of a way are open. Files that are made afterwards belong
  /// to the invoking user.
  @BluetoothActor
  static func afterOpening(_ way: Way) throws(Failure) {
    try drop(keeping: way.needs)
  }

  /// Becomes the invoking user, if sudo has started the program, and keeps of all capabilities only those named, of
  /// which some may not be there.
  ///
  /// - Throws: if the process still has more afterwards than it should
  @BluetoothActor
  static func drop(keeping kept: Capabilities) throws(Failure) {
    do throws(SystemError) {
      let invoker = InvokingUser.current()
      let rest = ThreadCapabilities(
        permitted: try ThreadCapabilities.current().permitted.intersection(kept))
      if let invoker { try become(invoker) }
      try ThreadCapabilities(permitted: rest.permitted, effective: rest.permitted).apply()
      try check(rest.permitted, invoker)
    } catch {
      throw Failure(
        .noPermission, "privileges can't be given up (\(error)); not going on with more than needed")
    }
  }

  private static func become(_ user: InvokingUser) throws(SystemError) {
    // For this thread alone: the others are to lose everything.
    try retryingInterrupts("prctl") { halo_capabilities_keep(1) }
    try retryingInterrupts("setresuid") { halo_become(user.user, user.group, user.name) }
    try retryingInterrupts("prctl") { halo_capabilities_keep(0) }
    // What is remembered belongs into the home of who will look for it.
    if let home = user.home { setenv("HOME", home, 1) }
  }

  /// Looks at what was reached, not at what was asked for.
  @BluetoothActor
  private static func check(_ kept: Capabilities, _ user: InvokingUser?) throws(SystemError) {
    if let user, halo_is(user.user, user.group) == 0 { throw SystemError("setresuid", errno: EPERM) }
    let current = try ThreadCapabilities.current()
    guard current == ThreadCapabilities(permitted: kept, effective: kept) else {
      throw SystemError("capset", errno: EPERM)
    }
    let own = "\(halo_thread())"
    for thread in SmallFile.names(in: "/proc/self/task") where thread != own {
      guard let status = SmallFile.text("/proc/self/task/\(thread)/status") else { continue }
      guard ThreadCapabilities(procStatus: status) == ThreadCapabilities() else {
        throw SystemError("thread \(thread)", errno: EPERM)
      }
    }
  }
}
