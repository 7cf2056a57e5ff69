import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import RingLink

/// The ring's automatic measurements, which a stream may switch off.
extension Session {
  /// Restores the measurements that an earlier run switched off and, because it was killed or lost its link, did not restore.
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

  /// Switches off the automatic measurements, and stores before which ones have to be restored.
  ///
  /// - Returns: the measurements that were switched off
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

  /// Warns if the firmware is of an unknown family, or its encoding of acceleration is unknown. Neither is guessed.
  ///
  /// - Parameter needsAcceleration: whether the encoding of acceleration matters
  func warnAboutUnknownFirmware(of ring: RingClient, needsAcceleration: Bool) {
    let name =
      ring.firmware.firmwareRevision.map { "firmware \($0.printable)" } ?? "the firmware of this ring"
    if ring.firmware.family == .unknown {
      Console.error("\(name) is of no known family: some commands may not work")
    }
    if needsAcceleration, ring.firmware.accelerometerEncoding == nil {
      Console.error(
        "\(name) may encode acceleration in two ways: x, y and z are empty until the stream shows which")
    }
  }
}

extension Invocation {
  /// How long to look for all rings that are near: the time of `--wait`, or five seconds.
  var timeForAllRings: Duration { isGiven(CommonOptions.wait) ? self[CommonOptions.wait] : .seconds(5) }

  /// Refuses `--all` together with the name of a ring, the first positional.
  ///
  /// - Parameter isAll: whether `--all` is given
  func checkRings(isAll: Bool) throws(Failure) {
    guard isAll, let ring = positionals.first else { return }
    throw .usage("--all and \"\(ring.printable)\" exclude each other")
  }
}

/// All rings that are near.
extension Session {
  /// Calls `found` for each ring that is heard.
  func listenForRings(
    within time: Duration, atMost most: Int, _ found: @escaping (RingSelector) -> Void
  ) async throws(Failure) {
    var addresses: Set<BluetoothAddress> = []
    let known = Set(self.known.rings.compactMap(\.peer))
    let scan = central.scan(scanParameters) { device in
      let address = device.address
      let isRing =
        known.contains(device.identity)
        || (RingSelector.anyRing.fit(device) ?? .ambiguousName) > .ambiguousName
      guard isRing, address.kind.isKnown, addresses.count < most, addresses.insert(address).inserted
      else { return }
      found(.address(address.value, address.kind))
    }
    await interruption.sleep(for: time, in: timers)
    scan.cancel()
    guard addresses.isEmpty, !interruption.isRequested else { return }
    throw Failure(RingError.notFound(.anyRing, seconds: time.inSeconds, others: 0))
  }
}
