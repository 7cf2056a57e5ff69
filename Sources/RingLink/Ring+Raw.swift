import BluetoothCore
import EventLoop
import GATTClient

/// What a ring has sent, whoever it is for.
public enum RingTraffic: Hashable, Sendable {
  case frame(RingFrame)
  case bulk(BulkFrame)
  /// No frame: of the wrong length, or with a wrong checksum.
  case unreadable([UInt8])
}

/// For those who explore.
extension Ring {
  /// Hands over everything that the ring sends, answers and samples included, for as long as the link lasts.
  ///
  /// - Parameter sink: called on the loop, with the time at which it came
  public func watch(_ sink: @escaping (RingTraffic, Instant) -> Void) async throws(RingError) {
    do throws(GATTError) {
      _ = try await client.subscribe(to: commandNotify) { value, time in
        sink((try? RingFrame(parsing: value)).map { .frame($0) } ?? .unreadable(Array(value)), time)
      }
    } catch {
      throw RingError(error)
    }
    do throws(RingError) {
      try await openBulk()
    } catch .noBulkService {
      return
    }
    guard let bulkNotify else { return }
    var assembler = BulkAssembler()
    do throws(GATTError) {
      _ = try await client.subscribe(to: bulkNotify) { value, time in
        switch assembler.receive(value, at: time) {
        case .frame(let frame): sink(.bulk(frame), time)
        case .raw(let frame): sink(.frame(frame), time)
        case .dropped: sink(.unreadable(Array(value)), time)
        case .incomplete: break
        }
      }
    } catch {
      throw RingError(error)
    }
  }

  /// Sends one message, and waits for nothing.
  ///
  /// - Throws: `.dangerous` for what is never sent, `.noBulkService`
  public func send(_ message: RingMessage) async throws(RingError) {
    if let danger = message.danger { throw .dangerous(danger) }
    switch message {
    case .frame(let frame): try dispatcher.post(frame)
    case .bulk(let id, let payload):
      try await openBulk()
      sendBulk(id, payload: payload)
    }
    await written(within: .seconds(2))
  }
}

extension CommandTable {
  /// What ends that which a frame begins; nothing for most.
  public static func closing(_ frame: RingFrame) -> [RingFrame] {
    let second = frame.byte(at: 1)
    switch frame.command {
    case .rawStream where ![RawControl.stop.rawValue, RawControl.release.rawValue].contains(second):
      return RawControl.stopSequence
    case measurementStart.command:
      let kind = MeasurementKind(rawValue: second)
      guard kind == .continuousHeartRate else { return [measurementStop.request(MeasurementStop(kind))] }
      return [measurementStart.request(MeasurementStart(kind, action: MeasurementStart.stopAction))]
    case liveHeartRate.command:
      return [liveHeartRate.request(LiveHeartRateControl(LiveHeartRateControl.stopAction))]
    case cameraEnter.command where cameraEnter.entry.requests.contains { $0.matches(frame) }:
      return [cameraLeave.frame]
    case sport.command where second != SportControl.endAction:
      var end = SportControl()
      end.action = SportControl.endAction
      end.sport = frame.byte(at: 2)
      return [sport.request(end)]
    default: return []
    }
  }
}
