import HaloBluetoothCore
import HaloSecurityManager

/// How the links of a radio are secured: what is shared by all of them.
@BluetoothActor
package final class SecurityHost {
  /// The functions of cryptography; nil where the library is not installed, which pairs with nobody.
  package let cryptography: (any Cryptography)?
  /// The bonds; nil if none are kept.
  package var bonds: (any BondStore)?
  package var settings: PairingSettings
  /// Asks the user; nil if there is none, who can see and type nothing then.
  package var agent: (any PairingAgent)?

  package init(
    _ cryptography: (any Cryptography)?, bonds: (any BondStore)? = nil,
    settings: PairingSettings = PairingSettings(), agent: (any PairingAgent)? = nil
  ) {
    self.cryptography = cryptography
    self.bonds = bonds
    self.settings = settings
    self.agent = agent
  }

  /// What the user can see and type.
  package var ioCapability: IOCapability {
    settings.policy == .ask ? agent?.ioCapability ?? .noInputNoOutput : .noInputNoOutput
  }
}
