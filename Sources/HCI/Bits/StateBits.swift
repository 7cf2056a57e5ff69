import HaloBluetoothCore

/// The states and roles of a controller that can exist at the same time (Core Specification Vol 4, Part E, 7.8.27).
enum LEStateBits {
  private static let advertising = [
    "not connectable", "scannable", "connectable", "high duty cycle directed", "low duty cycle directed",
  ].map { "\($0) advertising" }
  private static let passive = "passive scanning"
  private static let active = "active scanning"
  private static let initiating = "initiating"
  private static let central = "connected as central"
  private static let peripheral = "connected as peripheral"

  private static let combinations: [[String]] = [
    [advertising[0]], [advertising[1]], [advertising[2]], [advertising[3]], [passive], [active],
    [initiating, central], [peripheral],
    [advertising[0], passive], [advertising[1], passive], [advertising[2], passive],
    [advertising[3], passive],
    [advertising[0], active], [advertising[1], active], [advertising[2], active], [advertising[3], active],
    [advertising[0], initiating], [advertising[1], initiating], [advertising[0], central],
    [advertising[1], central], [advertising[0], peripheral], [advertising[1], peripheral],
    [passive, initiating], [active, initiating], [passive, central], [active, central],
    [passive, peripheral], [active, peripheral], [initiating, central],
    [advertising[4]], [advertising[4], passive], [advertising[4], active],
    [advertising[2], initiating], [advertising[3], initiating], [advertising[4], initiating],
    [advertising[2], central], [advertising[3], central], [advertising[4], central],
    [advertising[2], peripheral], [advertising[3], peripheral], [advertising[4], peripheral],
    [initiating, peripheral],
  ]

  static let names: BitNames = {
    var names: [Int: String] = [:]
    for (bit, states) in combinations.enumerated() { names[bit] = states.joined(separator: ", ") }
    // These two are not states at the same time, but a state and what follows it; and initiating while connected.
    names[6] = "initiating and being central"
    names[28] = "initiating while connected as central"
    return BitNames(names, plural: "states and combinations")
  }()
}
