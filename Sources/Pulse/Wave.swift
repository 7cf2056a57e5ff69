/// The last samples, evenly spaced, in three forms: the light itself, the band in which beats are searched, and the time.
///
/// Samples have numbers that count up from 0. The pulse points upwards here.
struct Wave {
  /// The rise of a beat.
  struct Rise {
    /// In seconds: the centre of the slope above 0.4 of its greatest.
    var time: Double
    /// In seconds, between the places where the slope is 0.4 of its greatest.
    var length: Double
    /// The greatest, in counts a sample.
    var slope: Double
  }

  static let capacity = 512
  private static let mask = capacity - 1
  /// In Hz: the corner of the kernel that smooths the light.
  private static let smoothing = 3.0
  /// The part of the greatest slope above which the slope belongs to the rise.
  private static let flank = 0.4
  /// In seconds before and after the place of a candidate: where its rise is searched.
  private static let searched = (before: 0.26, after: 0.14)
  /// What a shape covers before the rise, in seconds; the number of its values.
  private static let shapeStart = 0.16
  static let shapeLength = 16

  private(set) var count = 0
  private(set) var rate = 25.0
  private var light = [Double](repeating: 0, count: capacity)
  private var band = [Double](repeating: 0, count: capacity)
  private var times = [Double](repeating: 0, count: capacity)
  /// The symmetric kernel that smooths the light without delay of phase, from its middle on.
  private var kernel = [Double](repeating: 0, count: 128)
  private(set) var kernelHalf = 1
  /// The smoothed light, and its slope, around a candidate.
  private var smoothed = [Double](repeating: 0, count: capacity)
  private var slopes = [Double](repeating: 0, count: capacity)

  /// Forgets the samples.
  ///
  /// - Parameter rate: in samples a second
  mutating func begin(rate: Double) {
    count = 0
    self.rate = rate
    // A Gauss whose response falls to 0.71 at 3 Hz: half of the power.
    let width = 0.8326 / (2 * Double.pi * Self.smoothing) * rate
    kernelHalf = min(kernel.count - 1, max(1, Int((2.3 * width).rounded(.up))))
    var sum = 0.0
    for index in 0...kernelHalf {
      let distance = Double(index) / width
      kernel[index] = Elementary.exp(-0.5 * distance * distance)
      sum += index == 0 ? kernel[index] : 2 * kernel[index]
    }
    for index in 0...kernelHalf { kernel[index] /= sum }
  }

  mutating func append(light value: Double, band filtered: Double, at time: Double) {
    let index = count & Self.mask
    light[index] = value
    band[index] = filtered
    times[index] = time
    count += 1
  }

  /// Moves the last samples to a later time, because a loss before them has been noticed.
  mutating func delayLast(_ samples: Int, by seconds: Double) {
    for number in max(0, count - min(samples, Self.capacity))..<count { times[number & Self.mask] += seconds }
  }

  func time(of number: Int) -> Double { times[number & Self.mask] }
  func band(of number: Int) -> Double { band[number & Self.mask] }

  private func smoothed(at number: Int) -> Double {
    var sum = kernel[0] * light[number & Self.mask]
    for offset in 1...kernelHalf {
      sum += kernel[offset] * (light[(number - offset) & Self.mask] + light[(number + offset) & Self.mask])
    }
    return sum
  }

  /// The first of two neighbours between which the band rises most, between a trough and the top after it.
  func steepest(before top: Int, after trough: Int?) -> Int {
    let first = max(1, top - Int(0.5 * rate) - 1, count - Self.capacity + 4, trough ?? 0)
    var (best, greatest) = (top, -Double.infinity)
    for number in stride(from: top, through: first, by: -1) {
      let step = band(of: number) - band(of: number - 1)
      if step > greatest { (best, greatest) = (number, step) }
    }
    return best - 1
  }

  /// nil if the rise around a sample is not whole: it began before what is stored, or the slope does not end.
  mutating func rise(around number: Int) -> Rise? {
    let first = max(
      number - Int(Self.searched.before * rate) - 1, count - Self.capacity + kernelHalf + 2, kernelHalf + 1)
    let last = min(number + Int(Self.searched.after * rate) + 2, count - kernelHalf - 2)
    guard last - first >= 3 else { return nil }
    let length = last - first + 1
    for index in 0..<(length + 2) { smoothed[index] = smoothed(at: first - 1 + index) }
    var peak = 0
    for index in 0..<length {
      slopes[index] = (smoothed[index + 2] - smoothed[index]) / 2
      if slopes[index] > slopes[peak] { peak = index }
    }
    let base = Self.flank * slopes[peak]
    guard base > 0 else { return nil }
    var (left, right) = (peak, peak)
    while left > 0, slopes[left - 1] > base { left -= 1 }
    while right < length - 1, slopes[right + 1] > base { right += 1 }
    guard left > 0, right < length - 1 else { return nil }
    // The area above the base is made of triangles and trapezoids between the samples and the two places where the slope
    // crosses the base.
    let start = Double(left) - (slopes[left] - base) / (slopes[left] - slopes[left - 1])
    let end = Double(right) + (slopes[right] - base) / (slopes[right] - slopes[right + 1])
    var (area, moment) = (0.0, 0.0)
    var (x, height) = (start, 0.0)
    for index in left...(right + 1) {
      let (nextX, nextHeight) = index <= right ? (Double(index), slopes[index] - base) : (end, 0)
      let width = nextX - x
      area += width * (height + nextHeight) / 2
      moment += width * (height * (2 * x + nextX) + nextHeight * (x + 2 * nextX)) / 6
      (x, height) = (nextX, nextHeight)
    }
    guard area > 0 else { return nil }
    let centre = Double(first) + moment / area
    let before = Int(centre)
    let time =
      time(of: before) + (centre - Double(before)) * (self.time(of: before + 1) - self.time(of: before))
    return Rise(time: time, length: (end - start) / rate, slope: slopes[peak])
  }

  /// In seconds between two values of a shape.
  static func shapeStep(until end: Double) -> Double { (end + shapeStart) / Double(shapeLength - 1) }

  /// Writes the smoothed light from a little before a time until `seconds` after it, without its line and of unit length.
  ///
  /// - Parameters:
  ///   - time: of the rise
  ///   - number: of a sample near it
  /// - Returns: whether all of it is stored
  func writeShape(at time: Double, near number: Int, until seconds: Double, to shape: inout [Double]) -> Bool
  {
    let length = Self.shapeLength
    let centre = Double(length - 1) / 2
    var (sum, tilt) = (0.0, 0.0)
    for index in 0..<length {
      let offset = Self.shapeStep(until: seconds) * Double(index) - Self.shapeStart
      let place = Double(number) + (time + offset - self.time(of: number)) * rate
      guard place.magnitude < 1e9 else { return false }
      let before = Int(place.rounded(.down))
      guard before + 1 + kernelHalf < count, before - kernelHalf >= max(0, count - Self.capacity) else {
        return false
      }
      let part = place - Double(before)
      shape[index] = smoothed(at: before) * (1 - part) + smoothed(at: before + 1) * part
      sum += shape[index]
      tilt += (Double(index) - centre) * shape[index]
    }
    let mean = sum / Double(length)
    // The sum of the squares of the distances from the centre.
    let slope = tilt / 340
    var energy = 0.0
    for index in 0..<length {
      shape[index] -= mean + slope * (Double(index) - centre)
      energy += shape[index] * shape[index]
    }
    guard energy > 0 else { return false }
    let scale = 1 / energy.squareRoot()
    for index in 0..<length { shape[index] *= scale }
    return true
  }
}
