import HaloBluetoothCore

/// Why an operation on a ring failed.
package enum RingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No advertisement of a ring, or of the requested one, was received.
  case notFound(RingSelector, seconds: Double, others: Int, lacksScanResponses: Bool = false)
  /// No ring advertises, and these devices may be rings; none was named.
  case onlyPossible([String], seconds: Double)
  /// Several rings are near, and none was named.
  case severalFound([String])
  /// The peer has no command service; its services.
  case notARing([BluetoothUUID])
  /// The link to the ring, or a GATT operation on it, failed.
  case bluetooth(StackError)
  /// The ring answered a command with an error.
  case refused(CommandEntry.Subject, RingErrorCode)
  case notAnswered(CommandEntry.Subject, seconds: Double)
  /// The ring does not report that it stores this, so it is not asked for it.
  case notOffered(HistoryKind)
  /// The answer cannot be parsed.
  case malformed(CommandEntry.Subject, RingFrameError)
  case malformedBulk(BulkID, BulkContentsError)
  /// Frames of the answer were lost, also after the request was repeated.
  case incomplete(CommandEntry.Subject, missing: Int)
  /// The answer was damaged on the way: its CRC is wrong.
  case damaged(CommandEntry.Subject)
  /// The value on the ring differs from the one written.
  case notTaken(CommandEntry.Subject, [String])
  /// The requested value of a setting is invalid.
  case invalidSetting(SettingError)
  /// The command would damage the ring.
  case dangerous(String)
  /// A measurement has ended without a value.
  case measurement(MeasurementKind, MeasurementFailure)
  /// The command that should end the link did not.
  case stillConnected(String, seconds: Double, battery: RingBattery?)
  /// A sport session has ended: the ring has sent nothing for this long.
  case sportEnded(seconds: Double)
  /// The ring has no bulk service.
  case noBulkService
  /// The ring will not stream.
  case streamRefused(battery: RingBattery?)
  /// The stream was started, and no data was received.
  case noData(seconds: Double, battery: RingBattery?)
  /// The ring does not stream with a count.
  case countedStream(CountedSample.Light, CountedStreamFailure)
  /// The link was lost.
  case disconnected(String)
  case cancelled

  package var description: String {
    switch self {
    case .notFound(let selector, let seconds, let others, lacksScanResponses: true):
      "\(selector.notFoundDescription) in \(Int(seconds.rounded())) s. The adapter received no scan response of \(others) other \(others == 1 ? "device" : "devices"), which have the names of many: give the address of the device, or use another adapter"
    case .notFound(let selector, let seconds, let others, lacksScanResponses: false):
      "\(selector.notFoundDescription) in \(Int(seconds.rounded())) s (\(others) other \(others == 1 ? "device advertises" : "devices advertise")). "
        + "Is it charged and near, and its phone app closed? A ring that a phone holds can't be seen; see halo-raw help troubleshooting"
    case .onlyPossible(let names, let seconds):
      "no ring was found in \(Int(seconds.rounded())) s, but this may be one: \(Self.list(names)); name it to use it"
    case .severalFound(let names):
      "several rings are near: \(Self.list(names)); name the one you mean"
    case .notARing(let services):
      "not a QRing ring: it has no service \(RingGATT.commandService); it has "
        + (services.isEmpty ? "none at all" : services.map(\.description).joined(separator: ", "))
    case .bluetooth(let error): error.description
    case .refused(let subject, let code): "the ring refused \(subject): \(code)"
    case .notAnswered(let subject, let seconds):
      "the ring did not answer \(subject) within \(Int(seconds.rounded())) s"
    case .notOffered(let kind):
      "the ring does not report that it stores \(kind.rawValue) (0x3C); \"halo-raw info\" prints what it reports"
    case .malformed(let subject, let error): "the ring's answer to \(subject) can't be read: \(error)"
    case .malformedBulk(let id, let error): "the ring's answer to \(id) can't be read: \(error)"
    case .incomplete(let subject, let missing):
      "\(missing) frames of the ring's answer to \(subject) were lost, twice; is it too far away?"
    case .damaged(let subject): "the ring's answer to \(subject) was damaged on the way; is it too far away?"
    case .notTaken(let subject, let fields):
      "the ring acknowledged \(subject), but did not take over \(fields.joined(separator: ", "))"
    case .invalidSetting(let error): error.description
    case .dangerous(let danger): "this is never sent: it \(danger)"
    case .measurement(let kind, let failure):
      "no \(kind == .continuousHeartRate ? .heartRate : kind): \(failure)"
    case .stillConnected(let action, let seconds, let battery):
      battery?.isCharging == true
        ? "the ring refuses to \(action) while it is charging; take it off its charger"
        : "the ring was asked to \(action), and is still connected after \(Int(seconds.rounded())) s"
          + (battery.map { "; its battery is at \($0)" } ?? "")
    case .sportEnded(let seconds):
      "the ring has not reported on the sport session for \(Int(seconds.rounded())) s; it may have ended it"
    case .noBulkService:
      "the ring has no service \(RingGATT.bulkService), through which this is asked for; old ones do not"
    case .streamRefused(let battery):
      battery?.isCharging == true
        ? "the ring refuses to stream while it is charging; take it off its charger"
        : "the ring refuses to stream (A1 FF); rings do that on the charger, and if they do not know the command"
    case .noData(let seconds, let battery):
      "the stream was started, but the ring sent no data within \(Int(seconds.rounded())) s"
        + (battery.map {
          $0.isCharging ? "; it is charging: take it off its charger" : "; its battery is at \($0)"
        }
          ?? "") + ". Is another measurement running?"
    case .countedStream(let light, let failure): "the ring has no counted stream of \(light): \(failure)"
    case .disconnected(let reason): "the connection to the ring was lost: \(reason)"
    case .cancelled: "cancelled"
    }
  }

  /// The first three, and how many more there are.
  private static func list(_ names: [String]) -> String {
    names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
  }
}

/// Why there is no counted stream.
package enum CountedStreamFailure: Hashable, Sendable, CustomStringConvertible {
  case refused(RingErrorCode)
  /// An answer with this status, which is not 0 as that of a sample is.
  case status(UInt8)
  /// Frames without a value: the ring takes it for another measurement.
  case empty
  /// No sample, and no other answer. Most rings do not know this stream.
  case silent(seconds: Double)

  /// Whether it will be the same the next time. A ring that has an error may have no finger.
  package var isDefinite: Bool { if case .status = self { false } else { true } }

  /// Whether the ring may stream a while later: it may be on its charger, or have no finger.
  package var mayPass: Bool {
    switch self {
    case .status, .silent: true
    case .refused, .empty: false
    }
  }

  package var description: String {
    switch self {
    case .refused(let code): "it refuses (\(code))"
    case .status(let status): "it answers with status \(status)"
    case .empty: "its frames are empty"
    case .silent(let seconds): "it sends nothing within \(seconds) s"
    }
  }
}
