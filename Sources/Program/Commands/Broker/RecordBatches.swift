import HaloLineOutput
import HaloMQTT

/// Puts lines of JSON into batches.
final class RecordBatches: RecordSink {
  private var maker: BatchMaker
  private let publish: ([UInt8]) -> Void

  init(_ maker: BatchMaker, _ publish: @escaping ([UInt8]) -> Void) {
    self.maker = maker
    self.publish = publish
  }

  func take(_ records: RawSpan, ends: Span<Int>) {
    var start = 0
    for index in ends.indices {
      let batch = maker.add(records.extracting(start..<ends[index]))
      start = ends[index]
      if let batch { publish(batch) }
    }
  }

  /// Sends what there is.
  func send() {
    if !maker.isEmpty { publish(maker.take()) }
  }
}
