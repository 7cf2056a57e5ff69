import HaloBluetoothCore
import HaloPulse
import RingLink

/// What a ring sends during its raw stream, and what its light shows.
public enum RingSignal: Sendable {
  /// A sample, as ``Ring/samples`` has it.
  case sample(RawSample)
  /// A beat of the pulse, as ``Ring/beats`` has it.
  case beat(Beat)
  /// The quality of a second of the light, three seconds after its end.
  case quality(PulseSecond)
  /// A report of the ring about itself, as ``Ring/events`` has it.
  case event(RingEvent)
}

extension Ring {
  /// Everything that the ring sends, in one sequence: the samples, the beats and the quality of each second that they show, and
  /// the ring's reports. A beat and a quality come after the sample that has shown them, and have its time.
  ///
  /// - **Cancelled**: the iteration ends, and that over the samples.
  /// - **The link is lost**: `next()` throws `.linkLost`; with `reconnect:`, the next sample has a `gap`.
  /// - **Misuse**: `.refused` by a ring on its charger.
  public nonisolated var signals: Values<Received<RingSignal>> {
    Values(keepingNewest: 2048, counting: { $0.dropped = $1 }) { feed throws(BluetoothError) in
      let events = BluetoothActor.run {
        do {
          for try await event in self.events {
            feed.send(Received(.event(event), at: self.client.timers.now.wholeMicroseconds))
          }
        } catch {
          // The link is lost, which ends the samples, and with them the feed.
        }
      }
      let samples = self.follow(feed) { sample, shown in
        // The last beats before a gap come before it.
        if sample.gap == nil { feed.send(sample.replaced(by: .sample(sample.value))) }
        for event in shown {
          switch event {
          case .beat(let beat): feed.send(Received(.beat(beat), at: sample.time))
          case .second(let second): feed.send(Received(.quality(second), at: sample.time))
          case .wave, .interruption: break
          }
        }
        if sample.gap != nil { feed.send(sample.replaced(by: .sample(sample.value))) }
      }
      BluetoothActor.run {
        await samples.value
        events.cancel()
      }
      return { samples.cancel() }
    }
  }

  /// The beats of the pulse in the light of the raw stream, 1.3 seconds after each; their times are seconds on the clock of
  /// ``Received/time``, which is that of the sample that has shown the beat. A ring that sends fewer than eight samples a second
  /// has none. ``PulseRate`` and ``PulseVariability`` take them.
  ///
  /// - **Cancelled**: the iteration ends, and that over the samples.
  /// - **The link is lost**: `next()` throws `.linkLost`.
  /// - **Misuse**: `.refused` by a ring on its charger.
  public nonisolated var beats: Values<Received<Beat>> {
    Values(keepingNewest: 256, counting: { $0.dropped = $1 }) { feed throws(BluetoothError) in
      let samples = self.follow(feed) { sample, shown in
        for case .beat(let beat) in shown { feed.send(sample.replaced(by: beat)) }
      }
      return { samples.cancel() }
    }
  }

  /// Passes on each sample with the events of the pulse that it shows, until the samples end, which ends the feed.
  private func follow<Element>(
    _ feed: ValueFeed<Element>,
    _ sink: @escaping @BluetoothActor (Received<RawSample>, [PulseEvent]) -> Void
  ) -> Task<Void, Never> {
    BluetoothActor.run {
      var light = RingLight(encoding: self.client.firmware.accelerometerEncoding)
      var detector = PulseDetector()
      do {
        for try await sample in self.samples {
          var shown: [PulseEvent] = []
          if sample.gap != nil { detector.interrupt { shown.append($0) } }
          if let green = light.take(sample.value) {
            detector.add(
              at: sample.time.inSeconds, light: green.light, acceleration: green.acceleration
            ) { shown.append($0) }
          }
          sink(sample, shown)
        }
        feed.finish()
      } catch {
        feed.finish(error as? BluetoothError)
      }
    }
  }
}

extension Received {
  /// A value that is shown by others.
  fileprivate init(_ value: Value, at time: Instant) {
    self.init(value: value, time: time, undecodable: 0, gap: nil)
  }

  /// Another value that was received with this one.
  fileprivate func replaced<Other>(by value: Other) -> Received<Other> {
    Received<Other>(value: value, time: time, undecodable: 0, gap: gap)
  }
}
