import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// The process that opens adapters, played by the test: one request at a time, each with a number, and a deadline for each.
@BluetoothActor
@Suite(.onTheLoop) struct AdapterHelperTests {
  private let pair: SocketPair
  private let helper: AdapterHelper
  private let hci3 = AdapterIndex(rawValue: 3)

  init() throws {
    pair = try SocketPair(keepsPackets: true)
    helper = try AdapterHelper(channel: pair.ours, timers: testTimers)
  }

  @BluetoothActor private final class Outcome {
    var descriptor: Int32?
    var error: StackError?
    var task: Task<Void, any Error>?
    var isOver: Bool { descriptor != nil || error != nil }
  }

  private func start(_ work: @escaping @BluetoothActor (AdapterHelper) async throws(StackError) -> Int32)
    async -> Outcome
  {
    let outcome = Outcome()
    let helper = self.helper
    outcome.task = spawn {
      do throws(StackError) {
        outcome.descriptor = try await work(helper)
      } catch {
        outcome.error = error
      }
    }
    await settle()
    return outcome
  }

  private func take() async -> Outcome {
    let hci3 = self.hci3
    return await start { helper throws(StackError) in try await helper.take(hci3) }
  }

  private func bring(up isUp: Bool) async -> Outcome {
    let hci3 = self.hci3
    return await start { helper throws(StackError) in
      if isUp { try await helper.bringUp(hci3) } else { try await helper.bringDown(hci3) }
      return 0
    }
  }

  private func reply(_ number: UInt32, _ error: Int32 = 0, _ descriptor: Int32 = -1) async {
    pair.answer(number, error, descriptor)
    await settle()
  }

  /// Number, index, and what: 1 take, 2 up, 3 down. The next one follows the answer.
  @Test func requestsFollowOneAnother() async throws {
    let outcomes = [await take(), await bring(up: true), await bring(up: false)]
    #expect(pair.read() == hex("01000000 0300 0100") && pair.read().isEmpty)
    let opened = try SocketPair()
    // The answer to something else is none.
    await reply(7, 0)
    #expect(!outcomes[0].isOver)
    await reply(1, 0, opened.ours)
    let descriptor = try #require(outcomes[0].descriptor)
    #expect(descriptor >= 0 && write(descriptor, [9] as [UInt8], 1) == 1 && opened.read() == [9])
    close(descriptor)
    #expect(pair.read() == hex("02000000 0300 0200") && pair.read().isEmpty && !outcomes[1].isOver)
    await reply(2)
    #expect(outcomes[1].descriptor == 0 && pair.read() == hex("03000000 0300 0300"))
    await reply(3)
    #expect(outcomes[2].descriptor == 0)
    helper.close()
  }

  @Test(arguments: [
    (EBUSY, StackError.adapterUp), (EUSERS, .adapterTaken), (EPERM, .missing(.netAdmin)),
    (ENODEV, .noSuchAdapter), (EIO, .system(SystemError("bind", errno: EIO))),
  ])
  func reportsWhyUserChannelBindFails(_ code: Int32, _ reason: StackError) async {
    let outcome = await take()
    await reply(1, code)
    #expect(outcome.error == StackError("take hci3", reason))
    helper.close()
  }

  @Test(arguments: [
    (EPERM, StackError.missing(.netAdmin)), (ERFKILL, .radioBlocked), (ENODEV, .noSuchAdapter),
    (EBUSY, .system(SystemError("ioctl", errno: EBUSY))),
  ])
  func reportsWhyAdapterPowerChangeFails(_ code: Int32, _ reason: StackError) async {
    for (number, isUp) in [(UInt32(1), true), (2, false)] {
      let outcome = await bring(up: isUp)
      await reply(number, code)
      #expect(outcome.error == StackError("bring hci3 \(isUp ? "up" : "down")", reason))
    }
    helper.close()
  }

  /// Waits until something has happened to a descriptor.
  private func events(of descriptor: Int32) async -> Int16 {
    let events = await offTheLoop {
      var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return Glibc.poll(&poll, 1, 30_000) == 1 ? poll.revents : 0
    }
    return events ?? 0
  }

  /// After 20 seconds nobody waits. An adapter that is opened later is closed before anything else is done.
  @Test func slowBindTimesOutAndIsClosedLater() async throws {
    let outcome = await take()
    _ = pair.read()
    await testTimers.sleep(for: .milliseconds(19_998))
    #expect(!outcome.isOver)
    await testTimers.sleep(for: .milliseconds(3))
    #expect(outcome.error == StackError("take hci3", .kernelSilent))
    let next = await bring(up: true)
    #expect(pair.read().isEmpty)
    let opened = try SocketPair()
    let theirs = opened.theirs
    pair.answer(1, 0, opened.ours)
    close(opened.ours)
    await settle()
    #expect(await events(of: theirs) & Int16(POLLHUP) != 0)
    await testTimers.sleep(for: .seconds(3))
    // The thread that has closed it reports that in its own time.
    _ = await events(of: pair.theirs)
    #expect(pair.read() == hex("02000000 0300 0200"))
    await reply(2)
    #expect(next.descriptor == 0)
    helper.close()
  }

  @Test func aTaskThatIsCancelledWaitsNoLonger() async {
    let outcome = await take()
    outcome.task?.cancel()
    await settle()
    #expect(outcome.error == StackError("take hci3", .cancelled))
    helper.close()
  }

  @Test func closeCancelsPendingRequestsAndHelper() async {
    let outcomes = [await take(), await bring(up: false)]
    helper.close()
    helper.close()
    await settle()
    #expect(outcomes.map(\.error) == [.cancelled, .cancelled])
    _ = pair.read()
    var byte: UInt8 = 0
    #expect(recv(pair.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
  }

  @Test func aHelperThatHasEndedIsReported() async {
    let outcomes = [await take(), await bring(up: true)]
    shutdown(pair.theirs, Int32(SHUT_RDWR))
    await settle()
    let reason = StackError.system(SystemError("halo-adapter", errno: EPIPE))
    #expect(
      outcomes.map(\.error) == [StackError("take hci3", reason), StackError("bring hci3 up", reason)])
    let late = await take()
    #expect(late.error == StackError("take hci3", reason))
    helper.close()
  }
}

extension SocketPair {
  /// Answers for the helper that opens adapters: number and error, and with them a descriptor, unix(7): a header of 16
  /// bytes, SOL_SOCKET, SCM_RIGHTS.
  func answer(_ number: UInt32, _ error: Int32, _ descriptor: Int32 = -1) {
    var reply = (number, error)
    var control: (Int, Int32, Int32, Int32, Int32) = (
      20, SOL_SOCKET, Int32(SCM_RIGHTS), descriptor, 0
    )
    withUnsafeMutableBytes(of: &reply) { reply in
      withUnsafeMutableBytes(of: &control) { control in
        var vector = iovec(iov_base: reply.baseAddress, iov_len: reply.count)
        withUnsafeMutablePointer(to: &vector) { vector in
          var message = msghdr()
          message.msg_iov = vector
          message.msg_iovlen = 1
          if descriptor >= 0 {
            message.msg_control = control.baseAddress
            message.msg_controllen = control.count
          }
          #expect(sendmsg(theirs, &message, 0) == 8)
        }
      }
    }
  }
}
