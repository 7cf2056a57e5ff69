import HaloBluetoothCore
import HaloRecording
import RingLink

/// A replay's knowledge of a ring beyond GATT: which commands are alike, and how a ring reports that it has no data.
struct RingDialect: ReplayDialect {
  func accepts(_ recorded: [UInt8], for sent: [UInt8], at characteristic: BluetoothUUID?) -> Bool? {
    switch characteristic {
    case RingGATT.commandWrite:
      guard let recorded = try? RingFrame(parsing: recorded.span.bytes),
        let sent = try? RingFrame(parsing: sent.span.bytes)
      else { return false }
      // The data of one day are no answer to a request for another one.
      return recorded.hasForm(of: sent) && recorded.isAboutDay(of: sent)
    case RingGATT.bulkWrite: return recorded.prefix(2) == sent.prefix(2)
    default: return nil
    }
  }

  func answerWithoutData(
    to value: [UInt8], at characteristic: BluetoothUUID?
  ) -> (characteristic: BluetoothUUID, value: [UInt8])? {
    guard characteristic == RingGATT.commandWrite, let frame = try? RingFrame(parsing: value.span.bytes),
      let answer = frame.answerWithoutData
    else { return nil }
    return (RingGATT.commandNotify, answer.bytes)
  }
}
