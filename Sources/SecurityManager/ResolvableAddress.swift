import HaloBluetoothCore

/// A resolvable private address (Core Specification Vol 6, Part B, 1.3.2.2): it changes from time to time, and only who has
/// the device's Identity Resolving Key finds out whose it is.
package struct ResolvableAddress: Hashable, Sendable {
  /// 24 bits, of which the most significant two are 01.
  package let random: UInt32
  /// What the key makes of these: 24 bits.
  package let hash: UInt32

  /// - Returns: nil for an address of another kind
  package init?(_ address: BluetoothAddress) {
    guard address.isResolvable else { return nil }
    random = UInt32(truncatingIfNeeded: address.value >> 24)
    hash = UInt32(truncatingIfNeeded: address.value) & 0xFF_FFFF
  }

  /// Makes a new address.
  ///
  /// - Parameters:
  ///   - bits: random bits, of which the 22 least significant are used
  ///   - key: the cipher with the Identity Resolving Key
  /// - Returns: nil if the bits are all 0 or all 1, which is not allowed: take others
  package init?(random bits: UInt32, _ key: any BlockCipher) throws(CryptographyError) {
    let bits = bits & 0x3F_FFFF
    guard bits != 0, bits != 0x3F_FFFF else { return nil }
    random = 1 << 22 | bits
    hash = try key.hash(Self.block(random))
  }

  package var address: BluetoothAddress { BluetoothAddress(UInt64(random) << 24 | UInt64(hash), .random) }

  /// The block that is encrypted to get the hash.
  fileprivate static func block(_ random: UInt32) -> [UInt8] {
    [UInt8](repeating: 0, count: 13) + [16, 8, 0].map { UInt8(truncatingIfNeeded: random >> $0) }
  }
}

extension BlockCipher {
  /// The function ah (Core Specification Vol 3, Part H, 2.2.2): a hash of 24 bits.
  fileprivate func hash(_ block: [UInt8]) throws(CryptographyError) -> UInt32 {
    let bytes = try encrypt(block)
    return UInt32(bytes[13]) << 16 | UInt32(bytes[14]) << 8 | UInt32(bytes[15])
  }
}

/// Finds out which bonded device an address belongs to. A scan meets the same addresses again and again: what was found of
/// the last 256 is kept, also that it was nothing.
package final class AddressResolver {
  private let cryptography: any Cryptography
  private var keys: [(identity: BluetoothAddress, value: [UInt8], cipher: any BlockCipher)] = []
  /// By address.
  private var found: [UInt64: BluetoothAddress?] = [:]
  /// The addresses in `found`, in a ring; the oldest is at `next` once it is full.
  private var order: [UInt64] = []
  private var next = 0

  /// The number of results that are kept.
  package static let limit = 256

  package init(_ cryptography: any Cryptography) { self.cryptography = cryptography }

  /// With the keys of bonds.
  package convenience init(_ cryptography: any Cryptography, _ bonds: [Bond]) throws(CryptographyError) {
    self.init(cryptography)
    for bond in bonds {
      if let key = bond.identityResolvingKey { try add(key, of: bond.peer) }
    }
  }

  /// Adds a key. A device may have several: one of each bond with an adapter of this machine. A key of zeros says that the
  /// device has none.
  ///
  /// - Parameters:
  ///   - key: 16 bytes, the least significant first
  ///   - identity: the address of the device that stays
  package func add(_ key: [UInt8], of identity: BluetoothAddress) throws(CryptographyError) {
    let isThere = keys.contains { $0.identity == identity && $0.value == key }
    guard !isThere, key.contains(where: { $0 != 0 }) else { return }
    keys.append((identity, key, try cryptography.blockCipher(key: key.reversed())))
    forgetResults()
  }

  /// Removes the keys of a device.
  package func remove(_ identity: BluetoothAddress) {
    keys.removeAll { $0.identity == identity }
    forgetResults()
  }

  /// The address that stays of the device with this address: of a public or static one that address, of a resolvable one the
  /// identity of the device that has made it.
  ///
  /// - Returns: nil if it is a resolvable one of an unknown device, or changes and cannot be resolved by anybody
  package func identity(of address: BluetoothAddress) -> BluetoothAddress? {
    switch address.kind {
    case .public: return address
    case .publicIdentity: return BluetoothAddress(address.value, .public)
    case .randomIdentity: return BluetoothAddress(address.value, .random)
    case .random where address.value >> 46 == 3: return address
    default: break
    }
    guard let resolvable = ResolvableAddress(address), !keys.isEmpty else { return nil }
    if let known = found[address.value] { return known }
    let block = ResolvableAddress.block(resolvable.random)
    var identity: BluetoothAddress?
    do throws(CryptographyError) {
      for key in keys {
        guard try key.cipher.hash(block) == resolvable.hash else { continue }
        identity = key.identity
        break
      }
    } catch {
      // The library may have no memory now; what it fails to find is not kept as unknown.
      return nil
    }
    keep(identity, of: address.value)
    return identity
  }

  private func keep(_ identity: BluetoothAddress?, of address: UInt64) {
    found.updateValue(identity, forKey: address)
    if order.count < Self.limit {
      order.append(address)
    } else {
      found.removeValue(forKey: order[next])
      order[next] = address
      next = (next + 1) % Self.limit
    }
  }

  private func forgetResults() {
    found.removeAll(keepingCapacity: true)
    order.removeAll(keepingCapacity: true)
    next = 0
  }
}
