import HaloBluetoothCore
import Testing

@testable import HaloHTTP

/// A viewer that takes less than comes: opencti #13908 has what becomes of a server that keeps everything for him.
@Suite @BluetoothActor struct EventStreamTests {
  private let stream = EventStream()

  private func read(_ size: Int = 1 << 14) -> EventStream.Piece {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: size) { stream.read(into: $0) }
  }

  @Test func readsMessagesInPieces() {
    stream.send(Array("event: a\n\n".utf8))
    #expect(read(4) == .bytes(4))
    #expect(read() == .bytes(6))
    #expect(read() == .nothing)
    stream.end()
    #expect(read() == .end)
  }

  @Test func leavesOutPassingMessagesWhileManyWait() {
    let message = [UInt8](repeating: 0, count: 1000)
    for _ in 0..<1000 { stream.send(message, .passing(worth: 5)) }
    #expect(stream.pending < 40_000)
    // They are told when the viewer takes messages again, once.
    #expect(stream.takeOmitted() == 0)
    while read() != .nothing {}
    let omitted = stream.takeOmitted()
    #expect(omitted > 4000 && omitted < 5000 && omitted % 5 == 0)
    #expect(stream.takeOmitted() == 0)
  }

  @Test func endsAViewerThatTakesNothing() {
    var wakes = 0
    stream.wake = { wakes += 1 }
    for _ in 0..<1000 { stream.send([UInt8](repeating: 0, count: 1000)) }
    #expect(stream.pending <= 1 << 18)
    while case .bytes = read() {}
    #expect(read() == .end)
  }

  /// A page of several fast rings begins with more than a viewer may otherwise leave unread.
  @Test func countsNothingOfTheBeginning() {
    for _ in 0..<8 { stream.send([UInt8](repeating: 0, count: 100_000), .opening) }
    stream.send([1], .passing(worth: 1))
    #expect(stream.pending == 800_001 && stream.takeOmitted() == 0)
    while read() != .nothing {}
    for _ in 0..<1000 { stream.send([UInt8](repeating: 0, count: 1000), .passing(worth: 1)) }
    #expect(stream.pending < 40_000)
  }

  @Test func saysOnceThatAViewerIsGone() {
    var ends = 0
    stream.onEnd = { ends += 1 }
    stream.close()
    stream.close()
    #expect(ends == 1)
    stream.send([1])
    #expect(stream.pending == 0)
  }
}
