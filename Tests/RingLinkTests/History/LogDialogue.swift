import RingLink
import TestSupport

/// What became of an answer.
enum LogOutcome<Contents: Equatable & Sendable>: Equatable {
  case incomplete(received: Int, of: Int?)
  case gaps([Int])
  case complete(Contents)
  case unreadable(RingFrameError)
}

extension LogAssembler where Contents: Equatable {
  /// Gives an assembler frames until it has what it wants.
  static func assemble(_ frames: [RingFrame], for request: Request) -> LogOutcome<Contents> {
    var assembler = Self(request)
    return assembler.take(frames)
  }

  mutating func take(_ frames: [RingFrame]) -> LogOutcome<Contents> {
    var outcome = LogOutcome<Contents>.incomplete(received: 0, of: nil)
    for frame in frames {
      do throws(RingFrameError) {
        switch try receive(frame) {
        case .incomplete(let received, let count): outcome = .incomplete(received: received, of: count)
        case .gaps(let gaps): outcome = .gaps(gaps)
        case .complete(let contents): return .complete(contents)
        }
      } catch {
        return .unreadable(error)
      }
    }
    return outcome
  }
}

/// Frames as they were captured.
func frames(_ lines: String...) throws -> [RingFrame] {
  try lines.map { try RingFrame(parsing: hex($0).span.bytes) }
}

/// The frame with these bytes in front, zeros behind, and a right checksum.
func frame(_ start: String) throws -> RingFrame {
  let bytes = hex(start)
  return try RingFrame(RingCommand(rawValue: bytes[0]), payload: bytes.dropFirst())
}
