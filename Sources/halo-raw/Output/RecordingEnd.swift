import EventLoop
import HCI

extension TrafficTap {
  /// How many seconds a slow disk may take for the end of a recording.
  private static let deadline = 5.0

  /// Waits until a recording is written, and says what it lacks. For the end of a command: the loop has nothing else to
  /// do.
  func finishRecording() {
    guard let writer else { return }
    if !writer.waitUntilWritten(for: Self.deadline), writer.failure == nil {
      Console.error("halo-raw: \(writer.path.printable) lacks its end: the disk is too slow")
    }
    if writer.droppedRecords > 0 {
      Console.error(
        "halo-raw: \(writer.path.printable) lacks \(Console.counted(writer.droppedRecords, "packet")): "
          + "the disk is too slow")
    }
  }
}
