/// What a number from a ring counts. Every field of the command table that has a unit names it with one of these.
public enum RingUnit: String, Hashable, Sendable {
  case beatsPerMinute = "bpm"
  /// Small calories, as the ring counts them: 1000 make a kilocalorie.
  case calories = "cal"
  case centimeters = "cm"
  case days = "d"
  case degreesCelsius = "°C"
  case kilograms = "kg"
  case meters = "m"
  case milliseconds = "ms"
  case millimetersOfMercury = "mmHg"
  case minutes = "min"
  case percent = "%"
  case seconds = "s"
  case steps = "steps"
  case years = "y"
}
