import ErrandList
import Foundation
import HaloRaw

/// Prints a line at once.
nonisolated func show(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// Lets SIGINT interrupt what can be, or end the program. Returns when a signal is no longer lost.
func interruptBySignal(_ user: User) async {
  signal(SIGINT, SIG_IGN)
  let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
  source.setEventHandler {
    BluetoothActor.run { if !user.interrupt() { exit(130) } }
  }
  await withCheckedContinuation { continuation in
    source.setRegistrationHandler { continuation.resume() }
    source.resume()
  }
  signals = source
}

private var signals: (any DispatchSourceSignal)?
