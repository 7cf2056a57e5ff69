/// The choice whether a lost link is made again.
public struct Reconnection: Hashable, Sendable {
  /// How long it is tried; nil for not at all.
  let time: Duration?

  /// The end of the link is the end of the connection.
  public static let never = Reconnection(time: nil)

  /// It is tried for as long as the connection is used.
  public static let forever = Reconnection(time: .forever)

  /// It is tried for a time. After a link that has brought data, or has lasted for ten seconds, it is the whole time again.
  public static func within(_ time: Duration) -> Self { Self(time: time) }
}
