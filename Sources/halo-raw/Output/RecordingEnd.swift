import EventLoop
import HCI

extension TrafficTap {
  /// Waits until a recording is written, and says what it lacks.
  func finishRecording(within deadline: Duration) async {
    guard let writer else { return }
    let isWritten = await within(deadline) {
      try? await awaitCallback { (done: @escaping (Result<Void, CancellationError>) -> Void) in
        nonisolated(unsafe) let done = done
        writer.whenWritten { EventLoop.run { done(.success(())) } }
        return { done(.failure(CancellationError())) }
      }
    }
    if !isWritten, writer.failure == nil {
      Console.error("halo-raw: \(writer.path.printable) lacks its end: the disk is too slow")
    }
    if writer.droppedRecords > 0 {
      Console.error(
        "halo-raw: \(writer.path.printable) lacks \(Console.counted(writer.droppedRecords, "packet")): "
          + "the disk is too slow")
    }
  }
}
