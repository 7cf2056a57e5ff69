import EventLoop
import RingLink

/// The ring's own measurements, which a stream may switch off.
extension Session {
  /// Restores what an earlier run has switched off and, as it was killed or lost its link, could not restore.
  func restoreMeasurements(of ring: Ring) async throws(RingError) {
    let saved = isReplay ? notes.savedMeasurements : paused.claim(of: ring.client.peer)
    guard let saved, !saved.isEmpty else { return }
    if !isReplay {
      for (name, numbers) in saved.settings.sorted(by: { $0.key < $1.key }) {
        record(.restore(name, numbers))
      }
    }
    Console.error(
      "halo-raw: an earlier run has left the ring's own measurements off (\(saved)); restoring them")
    do throws(RingError) {
      try await restore(saved, on: ring)
    } catch .disconnected(let reason) {
      throw .disconnected(reason)
    } catch {
      Console.error("halo-raw: they could not be restored: \(error)")
    }
  }

  /// Switches off what the ring measures by itself, and sees to it that it will be restored, whatever happens.
  ///
  /// - Returns: what was switched off
  func pauseMeasurements(of ring: Ring) async throws(RingError) -> SavedMeasurements {
    let saved = try await ring.automaticMeasurements()
    guard !saved.isEmpty else { return saved }
    if !paused.keep(saved, of: ring.client.peer) {
      Console.error(
        "halo-raw: what the ring measures by itself (\(saved)) can't be noted in \(UserFolders.state ?? "?"): should "
          + "this program be killed, it stays off")
    }
    do throws(RingError) {
      try await ring.pause(saved)
    } catch {
      await leaveMeasurements(saved, of: ring)
      throw error
    }
    note("the ring's own measurements are off: \(saved)")
    return saved
  }

  /// The same at the end, when all that is left to do is to tell.
  func leaveMeasurements(_ saved: SavedMeasurements, of ring: Ring) async {
    do throws(RingError) {
      try await restore(saved, on: ring)
    } catch {
      Console.error(
        "halo-raw: the ring's own measurements (\(saved)) are not all on again: \(error)"
          + (paused.isKept(for: ring.client.peer) ? "; the next connection to it restores them" : ""))
    }
  }

  /// Switches them on again. If the link is lost meanwhile, the next connection does it.
  func restore(_ saved: SavedMeasurements, on ring: Ring) async throws(RingError) {
    do throws(RingError) {
      try await ring.restore(saved)
    } catch {
      switch error {
      case .refused, .notTaken, .malformed, .invalidSetting:
        // To try again would lead to the same.
        paused.drop(of: ring.client.peer)
      default: paused.release(ring.client.peer)
      }
      throw error
    }
    paused.drop(of: ring.client.peer)
    note("the ring's own measurements are on again: \(saved)")
  }
}
