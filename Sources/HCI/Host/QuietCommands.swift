import HaloBluetoothCore

/// Sends commands that a controller refuses while it scans, advertises or creates a link (Core Specification Vol 4, Part E,
/// 7.8.4 and 7.8.38 to 7.8.45): the first two pause for them, and the last is waited for.
final class QuietCommands {
  private struct Job {
    let commands: [any HCICompletingCommand]
    let done: (Result<Void, StackError>) -> Void
  }

  /// Whether no link is being created.
  var isFree: () -> Bool = { true }

  private let queue: CommandQueue
  private let scan: ScanController
  private let advertiser: AdvertisingSets
  private var jobs: [Job] = []
  private var isBusy = false
  /// Who has to wait for the end of all commands.
  private var waiting: [() -> Void] = []

  init(_ queue: CommandQueue, _ scan: ScanController, _ advertiser: AdvertisingSets) {
    (self.queue, self.scan, self.advertiser) = (queue, scan, advertiser)
  }

  /// Sends commands, each after the success of the one before. `done` is called with the first failure, before anything resumes.
  func run(_ commands: [any HCICompletingCommand], then done: @escaping (Result<Void, StackError>) -> Void) {
    jobs.append(Job(commands: commands, done: done))
    tryNow()
  }

  /// Something has changed: commands that had to wait may be sent now.
  func tryNow() {
    guard !isBusy, !jobs.isEmpty, isFree() else { return }
    isBusy = true
    scan.pause(for: .quiet) { [weak self] in
      self?.advertiser.pause(for: .quiet) { self?.next() }
    }
  }

  /// Calls a closure when no command is under way; at once if that is so.
  func whenDone(_ action: @escaping () -> Void) {
    if isBusy { waiting.append(action) } else { action() }
  }

  private func next() {
    guard !jobs.isEmpty else { return finish() }
    let job = jobs.removeFirst()
    send(job.commands[...]) { [weak self] result in
      job.done(result)
      self?.next()
    }
  }

  private func finish() {
    isBusy = false
    let waiting = self.waiting
    self.waiting = []
    scan.resume(from: .quiet)
    advertiser.resume(from: .quiet)
    for action in waiting { action() }
  }

  private func send(
    _ commands: ArraySlice<any HCICompletingCommand>, then done: @escaping (Result<Void, StackError>) -> Void
  ) {
    guard let command = commands.first else { return done(.success(())) }
    queue.enqueue(command, endsWithStatus: false) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success: send(commands.dropFirst(), then: done)
      case .failure(let error): done(.failure(error))
      }
    }
  }
}
