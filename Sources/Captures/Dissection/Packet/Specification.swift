/// The document that the references of fields are sections of.
package enum Specification {
  /// With its version.
  package static let name = "Bluetooth Core Specification 6.2"
}
