import ATT
import HaloBluetoothCore
import HaloGATT

/// Which questions the capture answers.
extension RecordedAttributes {
  /// Whether the capture shows all that the answer to the question needs.
  func covers(_ question: Question, _ range: HandleRange) -> Bool {
    var known = covered[question, default: []]
    if case .byType = question { known += settled }
    var next = range.start
    for known in known.sorted(by: { $0.start < $1.start })
    where known.start <= next && known.end >= next {
      guard known.end < range.end, let after = known.end.next else { return true }
      next = after
    }
    return false
  }

  /// The handles whose types are known, or that have no attribute: those that were found or asked for, and those outside
  /// of all services.
  private var settled: [HandleRange] {
    var settled = learned.handles.map { HandleRange($0, $0) } + covered[.information, default: []]
    guard covers(.group(GATTUUID.primaryService), .all) else { return settled }
    var next: AttributeHandle? = HandleRange.all.start
    for service in learned.serviceRanges {
      if let start = next, start < service.start {
        settled.append(HandleRange(start, AttributeHandle(service.start.rawValue - 1)))
      }
      next = max(next ?? service.start, service.end.next ?? service.start)
      if service.end.next == nil { return settled }
    }
    if let next { settled.append(HandleRange(next, HandleRange.all.end)) }
    return settled
  }
}
