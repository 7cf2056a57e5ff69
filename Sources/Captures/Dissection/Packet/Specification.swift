/// The document that the references of fields are sections of.
public enum Specification {
  /// With its version.
  public static let name = "Bluetooth Core Specification 6.2"
}
