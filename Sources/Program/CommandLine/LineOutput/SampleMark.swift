import HaloBluetoothCore
import HaloPulse
import RingLink

extension SampleWriter {
  /// The kind of a line that is no sample.
  package enum Mark: Equatable, Sendable {
    /// The stream was interrupted: later samples are from another link, or of another start.
    case gap(String)
    /// The number of samples that are missing here, because the output was not read in time.
    case dropped(Int)
    /// A frame that was received, and is damaged: the reason, and its bytes; none if they are not known.
    case rejected(String, [UInt8])
    /// The clock of this computer was set: the step in microseconds.
    case clock(Int64)
    /// A frame of the counted stream that is not the next one: which are lost before it, or that it is late or doubled.
    case packets(PacketCounter.Step)
    /// A value that the ring has measured in a pause of the stream: the name of its column in other commands, and the value.
    case measured(String, Int)
    /// The stream pauses for something that was asked for.
    case pause(String)
    /// A beat of the pulse that the light has shown, and the rate of the last ten seconds.
    case beat(Beat, bpm: Double?)
    /// What a person has marked.
    case annotation(String)
    /// The wearer has used the ring's button, or an alarm of the ring: its name and its value.
    case event(String)

    var kind: StaticString {
      switch self {
      case .gap: "gap"
      case .dropped: "dropped"
      case .rejected: "rejected"
      case .clock: "clock"
      case .packets: "lost"
      case .measured: "measured"
      case .pause: "pause"
      case .beat: "beat"
      case .annotation: "mark"
      case .event: "event"
      }
    }

    /// The same as text.
    package var name: String { "\(kind)" }

    var index: Int {
      switch self {
      case .gap: 3
      case .dropped: 4
      case .rejected: 5
      case .clock: 6
      case .packets: 7
      case .measured: 8
      case .pause: 9
      case .beat: 10
      case .annotation: 11
      case .event: 12
      }
    }

    /// The members of a JSON object.
    var json: String {
      switch self {
      case .gap(let reason), .pause(let reason): "\"reason\":\(Field.text(reason).json)"
      case .dropped(let count): "\"count\":\(count)"
      case .rejected(let reason, let bytes):
        "\"reason\":\(Field.text(reason).json),\"bytes\":\"\(Hex.string(bytes))\""
      case .clock(let step): "\"step_s\":\(DecimalText.string(step, places: 6))"
      case .packets(let step): "\"packet\":\(step.first),\"count\":\(step.loss),\"reason\":\"\(step.reason)\""
      case .measured(let name, let value): "\"\(name)\":\(value)"
      case .beat(let beat, _): "\"reason\":\"\(beat.reason.rawValue)\""
      case .annotation(let text), .event(let text): "\"text\":\(Field.text(text).json)"
      }
    }

    /// The number of the frame that it is about; nil if there is none.
    var packet: Int? { if case .packets(let step) = self { step.first } else { nil } }

    /// The text of the column `note`.
    var note: String {
      switch self {
      case .gap(let text), .pause(let text), .annotation(let text), .event(let text): text
      case .dropped(let count): "\(count)"
      case .rejected(let reason, let bytes): bytes.isEmpty ? reason : "\(reason): \(Hex.string(bytes))"
      case .clock(let step): DecimalText.string(step, places: 6)
      case .packets(let step): "\(step.reason): \(step.loss)"
      case .measured(let name, let value): "\(name)=\(value)"
      case .beat(let beat, _): beat.reason.rawValue
      }
    }

    package var text: String {
      switch self {
      case .gap, .rejected, .measured, .pause, .annotation, .event: note
      case .dropped(let count): "\(count) samples: the output was not read in time"
      case .beat(let beat, let rate): Self.text(beat, rate)
      case .clock: "the clock of this computer was set by \(note) s"
      case .packets(let step):
        step.loss > 0 ? "\(step.loss) from packet \(step.first) on" : "packet \(step.first) is \(step.reason)"
      }
    }

    private static func text(_ beat: Beat, _ rate: Double?) -> String {
      guard beat.isAccepted else { return "not accepted: \(beat.reason.rawValue)" }
      let numbers = [
        rate.map { "\(DecimalText.string(Int64(($0 * 10).rounded()), places: 1)) bpm" },
        beat.interval.map { "\(Int(($0 * 1000).rounded())) ms" },
        beat.reason == .good ? nil : beat.reason.rawValue,
      ]
      return numbers.compactMap(\.self).joined(separator: "  ")
    }
  }
}

extension PacketCounter.Step {
  /// The number of the first missing frame, or that of the frame itself.
  fileprivate var first: Int { number - max(0, loss) }

  /// How many frames are lost more than before. The sum of all is the number of lost frames.
  package var loss: Int {
    switch kind {
    case .afterLoss(let count): count
    case .late: -1
    case .next, .doubled, .restarted: 0
    }
  }

  fileprivate var reason: StaticString {
    switch kind {
    case .next: "in order"
    case .afterLoss: "lost"
    case .late: "late"
    case .doubled: "doubled"
    case .restarted: "the first of a new count"
    }
  }
}
