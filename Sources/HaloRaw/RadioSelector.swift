/// Which radio to use, as a person writes it.
///
/// | text | radio |
/// | --- | --- |
/// | `hci0` | an adapter that the kernel drives; an empty text is the first one that is up |
/// | `user:hci0` | the adapter for this program alone: needed to advertise |
/// | `tcp:HOST:PORT`, `unix:PATH`, `serial:PATH@BAUD` | a controller or a simulation that speaks H4 |
/// | `virtual`, `virtual:OPTIONS` | a ring in memory; with the option `fast`, a minute takes milliseconds |
/// | `virtual:air=NAME` | a radio that the others of this name in this process hear, in virtual time: for tests of both roles |
/// | `replay:FILE` | a recording, which answers as the device did |
public struct RadioSelector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The text; it is checked when the radio is opened.
  public let description: String

  /// - Parameter text: one of the forms above; whether it is one is checked when the radio is opened
  public init(_ text: String) { description = text }

  public init(stringLiteral text: String) { self.init(text) }

  /// The first adapter of this machine.
  public static let standard = RadioSelector("")

  func specification() throws(AdapterSpecificationError) -> AdapterSpecification {
    description.isEmpty ? .kernel(nil) : try AdapterSpecification(description)
  }
}
