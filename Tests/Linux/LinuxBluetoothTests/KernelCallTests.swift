import GAP
import HaloGATT
import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// Threads that close descriptors, and packets that the kernel loses.
@BluetoothActor
@Suite(.onTheLoop) struct KernelCallTests {
  private func threads() throws -> Int {
    let folder = try #require(opendir("/proc/self/task"))
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
  }

  /// A thread that waits is used again; others of this process may come and go.
  @Test func manyDescriptorsNeedFewThreads() async throws {
    KernelCall.prepareToClose()
    let before = try threads()
    for _ in 0..<300 {
      let pair = try SocketPair()
      await EpollLoop.shared.stoppingVirtualTime {
        await withCheckedContinuation { continuation in
          KernelCall.close(pair.ours, timers: testTimers) { continuation.resume() }
        }
      }
      KernelCall.prepareToClose()
    }
    #expect(try threads() - before < 150)
  }

  /// A link reports them; the adapter counts them, also when the link is gone.
  @Test func packetsThatALinkLosesAreCounted() async throws {
    let stage = KernelStage()
    let (ours, theirs) = try lossyPair()
    let socket = try L2CAPSocket(ours, handle: nil, timers: testTimers)
    let link = stage.adapter.adopt(socket, for: ConnectionRequest(peer: KernelStage.peer), isOurs: true)
    var events: [LinkEvent] = []
    link.onEvent = { events.append($0) }
    for _ in 0..<20_000 { Glibc.send(theirs, [1] as [UInt8], 1, 0) }
    #expect(link.droppedPackets > 0)
    for _ in 0..<5000 where events.isEmpty {
      Glibc.send(theirs, [1] as [UInt8], 1, 0)
      await settle()
    }
    guard case .dropped(let count) = events.last else {
      Issue.record("\(events)")
      return
    }
    let lost = link.droppedPackets
    #expect(count > 0 && Int(count) <= lost && stage.adapter.droppedPackets == lost)
    link.lose(.local)
    #expect(stage.adapter.droppedPackets == lost)
    close(theirs)
  }
}
