import HaloCommandLine
import HaloRecording

extension TrafficTap {
  /// In seconds: how long a slow disk may take for the end of a recording.
  private static let deadline = 5.0

  /// Waits until a recording is written and reports lost packets. Only at the end of a command: it blocks the loop.
  func finishRecording() {
    guard let writer else { return }
    let isWritten = writer.waitUntilWritten(for: Self.deadline)
    // What is written last has no record behind it that would report the failure.
    if let failure = writer.failure {
      onFailure.take()?(failure)
    } else if !isWritten {
      Console.error("halo-raw: \(writer.path.printable) is incomplete: the disk is too slow")
    }
    if writer.droppedRecords > 0 {
      Console.error(
        "halo-raw: \(writer.path.printable) lacks \(Console.counted(writer.droppedRecords, "packet")): "
          + "the disk is too slow")
    }
  }
}
