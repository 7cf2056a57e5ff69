import CHaloLinux
import Testing

@testable import HaloSystem

/// The functions that are declared in Swift are those of the header: what no compiler checks.
@Suite struct LinuxFunctionTests {
  @Test func declarationsAreThoseOfTheHeader() {
    #expect(type(of: Linux.accept) == type(of: halo_accept))
    #expect(type(of: Linux.openUnnamed) == type(of: halo_open_unnamed))
    #expect(type(of: Linux.startProgram) == type(of: halo_start_program))
    #expect(type(of: Linux.peer) == type(of: halo_peer))
    #expect(type(of: Linux.epoll) == type(of: halo_epoll))
    #expect(type(of: Linux.epollAdd) == type(of: halo_epoll_add))
    #expect(type(of: Linux.epollChange) == type(of: halo_epoll_change))
    #expect(type(of: Linux.epollRemove) == type(of: halo_epoll_remove))
    #expect(type(of: Linux.epollWait) == type(of: halo_epoll_wait))
    #expect(type(of: Linux.event) == type(of: halo_event))
    #expect(type(of: Linux.semaphore) == type(of: halo_semaphore))
    #expect(type(of: Linux.timer) == type(of: halo_timer))
    #expect(type(of: Linux.timerSet) == type(of: halo_timer_set))
    #expect(type(of: Linux.isClockSynchronized) == type(of: halo_clock_is_synchronized))
    #expect(type(of: Linux.hasCapability) == type(of: halo_has_capability))
    #expect(type(of: Linux.capabilities) == type(of: halo_capabilities_get))
    #expect(type(of: Linux.setCapabilities) == type(of: halo_capabilities_set))
    #expect(type(of: Linux.keepCapabilities) == type(of: halo_capabilities_keep))
    #expect(type(of: Linux.fileCapabilities) == type(of: halo_file_capabilities))
    #expect(type(of: Linux.noNewPrivileges) == type(of: halo_no_new_privileges))
    #expect(type(of: Linux.clearAmbient) == type(of: halo_ambient_clear))
    #expect(type(of: Linux.clearBounding) == type(of: halo_bounding_clear))
    #expect(type(of: Linux.become) == type(of: halo_become))
    #expect(type(of: Linux.isUser) == type(of: halo_is))
    #expect(type(of: Linux.thread) == type(of: halo_thread))
  }

  /// A library that is missing, and a function that is missing, are nil; one that is there can be called.
  @Test func librariesAreLoaded() throws {
    let missing = #expect(throws: LibraryError.self) { try LoadedLibrary("libhalo-is-missing.so.1") }
    #expect(missing?.isMissing == true)
    // A file that is there, and no library: the linker says why.
    let damaged = #expect(throws: LibraryError.self) { try LoadedLibrary("/etc/passwd") }
    #expect(damaged?.isMissing == false && damaged?.description.contains("invalid ELF header") == true)
    let library = try LoadedLibrary("libc.so.6")
    #expect(library.function("halo_is_missing", as: (@convention(c) (Int32) -> Int32).self) == nil)
    let absolute = try #require(library.function("abs", as: (@convention(c) (Int32) -> Int32).self))
    #expect(absolute(-7) == 7)
  }
}
