import HaloCommandLine
import RingLink

/// Sessions of sport as a TCX document: Garmin's schema TrainingCenterDatabase, version 2, with the steps by its extension.
package struct TCXActivities {
  private var activities = ""

  package init() {}

  package mutating func add(_ sport: StoredSport, at start: ZonedTime) {
    let interval = sport.sampleSeconds ?? 0
    let seconds = sport.seconds ?? sport.heartRates.count * interval
    func rate(_ name: String, _ value: Int?) -> String {
      guard let value, (1...255).contains(value) else { return "" }
      return "<\(name)><Value>\(value)</Value></\(name)>\n"
    }
    var points = ""
    for (index, value) in sport.heartRates.enumerated() where interval > 0 {
      points += "<Trackpoint><Time>\(start.adding(seconds: index * interval).utc)</Time>"
      points += rate("HeartRateBpm", value) + "</Trackpoint>\n"
    }
    // Distance and energy are required: 0 where the ring has none.
    activities += """
      <Activity Sport="\(sport.sport.tcx)">
      <Id>\(start.utc)</Id>
      <Lap StartTime="\(start.utc)">
      <TotalTimeSeconds>\(seconds)</TotalTimeSeconds>
      <DistanceMeters>\(sport.meters ?? 0)</DistanceMeters>
      <Calories>\(min(((sport.calories ?? 0) + 500) / 1000, 0xFFFF))</Calories>
      \(rate("AverageHeartRateBpm", sport.averageRate))\(rate("MaximumHeartRateBpm", sport.maximumRate))\
      <Intensity>Active</Intensity>
      <TriggerMethod>Manual</TriggerMethod>
      \(points.isEmpty ? "" : "<Track>\n\(points)</Track>\n")\(steps(sport.steps))</Lap>
      <Notes>\(sport.sport.description.htmlEscaped)</Notes>
      </Activity>

      """
  }

  private func steps(_ steps: Int?) -> String {
    guard let steps, (0...0xFFFF).contains(steps) else { return "" }
    return "<Extensions><LX xmlns=\"http://www.garmin.com/xmlschemas/ActivityExtension/v2\">"
      + "<Steps>\(steps)</Steps></LX></Extensions>\n"
  }

  /// The document.
  package var text: String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <TrainingCenterDatabase xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2">
    <Activities>
    \(activities)</Activities>
    </TrainingCenterDatabase>

    """
  }
}
