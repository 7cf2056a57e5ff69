import Foundation

/// Prints a line at once.
func say(_ items: Any...) {
  let words = items.map { item in
    if let bytes = item as? [UInt8] { bytes.map { String(format: "%02x", $0) }.joined() } else { "\(item)" }
  }
  FileHandle.standardOutput.write(Data((words.joined(separator: " ") + "\n").utf8))
}

func twoBytes(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

/// Runs something that the user interrupts, and prints how it has ended.
func interrupted(_ work: @escaping () async throws -> Void) async {
  var task: Task<Void, Never>?
  signal(SIGINT, SIG_IGN)
  let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
  source.setEventHandler { task?.cancel() }
  // A signal that comes before the source is registered is lost.
  await withCheckedContinuation { continuation in
    source.setRegistrationHandler { continuation.resume() }
    source.resume()
  }
  task = Task {
    do {
      try await work()
      say("ended")
    } catch let error as DoorError {
      say("error", error.word)
    } catch {
      say("error", error)
    }
  }
  await task?.value
  source.cancel()
}
