/// The layers of a packet, from the wire up.
public enum Layer: String, Hashable, Sendable, CaseIterable {
  case hci
  case l2cap
  case signaling
  case smp
  case att
  case gatt
  case ring
}
