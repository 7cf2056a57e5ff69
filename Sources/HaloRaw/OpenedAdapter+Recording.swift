import HaloBluetoothCore
import HaloCapture
import HaloSystem
import HaloRecording

extension AdapterSpecification {
  /// Opens the adapter and records its traffic to a btsnoop file, which `halo-raw replay` and `ReplayedPeripheral`
  /// replay. When the program ends, ``OpenedAdapter/end(within:)`` completes the file.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - replacing: whether a file that has data is replaced; otherwise it is an error
  ///   - opening: the other choices; its `makeTap` is not called
  /// - Throws: `CaptureError` if the file can't be made; and the errors of ``open(_:)``, in which case no file is made
  @BluetoothActor
  package func open(
    recordingTo path: String, replacing: Bool = false, _ opening: AdapterOpenOptions = AdapterOpenOptions()
  ) async throws -> OpenedAdapter {
    var opening = opening
    opening.makeTap = { timers, _, wallOffset in
      TrafficTap(
        writer: try CaptureWriter(path: path, replaces: replacing), timers: timers, wallOffset: wallOffset)
    }
    return try await open(opening)
  }
}

extension OpenedAdapter {
  /// Ends the tap, when the adapter is closed, and waits until the recording is complete. Call it after
  /// `Central.stop()`. Without a recording, it only ends the time of a replay or of a virtual ring. Cancelling the task
  /// does not cancel this.
  ///
  /// - Parameter time: how long to wait for the disk
  /// - Returns: the number of packets that the recording lacks, as they arrived faster than they were read or written
  /// - Throws: `CaptureError` if the recording is incomplete: writing has failed, or the disk was not fast enough
  @discardableResult
  package func end(within time: Duration = .seconds(10)) async throws(CaptureError) -> Int {
    let lost = finish()
    guard let writer = tap?.writer else { return lost }
    guard await writer.close(within: time), let named = await writer.nameLastFile(within: time) else {
      let seconds = Int(time.inSeconds.rounded())
      throw CaptureError(.cannotWrite("the disk is too slow: it has taken \(seconds) s"), path: writer.path)
    }
    if let failure = writer.failure { throw failure }
    do throws(FileError) {
      try named.get()
    } catch {
      throw CaptureError(.cannotWrite(error.reason.description), path: writer.path)
    }
    return lost + writer.droppedRecords
  }
}

extension CaptureWriter {
  /// Waits until all records are written or writing has failed, and the file is closed, without blocking the loop.
  ///
  /// - Parameter time: real time, as a disk knows no other
  /// - Returns: false if records wait to be written after that time
  @BluetoothActor
  fileprivate func close(within time: Duration) async -> Bool {
    await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
      let end = OneShot { continuation.resume(returning: $0) }
      end.expire(after: time, in: EpollLoop.shared.timers, with: false)
      close { BluetoothActor.run { end(true) } }
    }
  }

  /// Gives the last file of a series its name.
  ///
  /// - Returns: nil if that takes longer
  @BluetoothActor
  fileprivate func nameLastFile(within time: Duration) async -> Result<Void, FileError>? {
    guard let completion else { return .success(()) }
    // In a task of its own, which is not cancelled.
    return await Task {
      await offTheLoop(deadline: time) { Result { () throws(FileError) in try completion() } }
    }.value
  }
}
