import HaloCommandLine
import HaloFiles
import RingLink

/// The ring's automatic measurements, which a stream may switch off.
extension Session {
  /// Restores what an earlier run switched off and, because it was killed or lost its link, did not restore.
  func restoreMeasurements(of ring: RingClient) async throws(RingError) {
    let saved = isReplay ? notes.savedMeasurements : paused.claim(of: ring.connection.peer)
    guard let saved, !saved.isEmpty else { return }
    if !isReplay {
      for (name, numbers) in saved.settings.sorted(by: { $0.key < $1.key }) {
        record(.restore(name, numbers))
      }
    }
    Console.error(
      "halo-raw: an earlier run left automatic measurements of the ring off (\(saved)); restoring them")
    do throws(RingError) {
      try await restore(saved, on: ring)
    } catch .disconnected(let reason) {
      throw .disconnected(reason)
    } catch {
      Console.error("halo-raw: cannot restore them: \(error)")
    }
  }

  /// Switches off the automatic measurements, and stores first what has to be restored.
  ///
  /// - Returns: what was switched off
  func pauseMeasurements(of ring: RingClient) async throws(RingError) -> SavedMeasurements {
    let saved = try await ring.automaticMeasurements()
    guard !saved.isEmpty else { return saved }
    if !paused.keep(saved, of: ring.connection.peer) {
      Console.error(
        "halo-raw: cannot store the automatic measurements (\(saved)) in \(UserFolders.state ?? "?"): if this program "
          + "is killed, they stay off")
    }
    do throws(RingError) {
      try await ring.pause(saved)
    } catch {
      await leaveMeasurements(saved, of: ring)
      throw error
    }
    note("automatic measurements are off: \(saved)")
    return saved
  }

  /// Restores the automatic measurements at the end of a command; a failure is only reported.
  func leaveMeasurements(_ saved: SavedMeasurements, of ring: RingClient) async {
    do throws(RingError) {
      try await restore(saved, on: ring)
    } catch {
      Console.error(
        "halo-raw: cannot restore all automatic measurements (\(saved)): \(error)"
          + (paused.isKept(for: ring.connection.peer)
            ? "; the next connection to the ring restores them" : ""))
    }
  }

  /// Restores the automatic measurements. If the link is lost, the next connection restores them.
  func restore(_ saved: SavedMeasurements, on ring: RingClient) async throws(RingError) {
    do throws(RingError) {
      try await ring.restore(saved)
    } catch {
      switch error {
      case .refused, .notTaken, .malformed, .invalidSetting:
        // Another attempt would fail in the same way.
        paused.drop(of: ring.connection.peer)
      default: paused.release(ring.connection.peer)
      }
      throw error
    }
    paused.drop(of: ring.connection.peer)
    note("automatic measurements are on again: \(saved)")
  }
}
