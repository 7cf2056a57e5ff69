package import HaloBluetoothCore
package import HaloRaw

/// The inputs and the outputs of the role.
extension PeripheralRole {
  /// A characteristic: the number of its service, and its place in that.
  package struct Place: Hashable, Sendable {
    package var service: Int
    package var index: Int
  }

  /// A read or write of a central. The parts of an Execute Write are one request.
  package struct Request: Hashable, Sendable {
    package struct Part: Hashable, Sendable {
      package var place: Place
      package var offset: Int
      /// Empty for a read.
      package var value: [UInt8] = []
    }

    package var client: PeerIdentity
    /// Counts the requests of all centrals; nil for a command, which has no answer.
    package var number: Int?
    package var isRead: Bool
    package var parts: [Part]
  }

  /// A command for the loop; commands keep their order.
  package enum Command: Hashable, Sendable {
    /// Is answered by ``PeripheralRole/added(_:_:)``.
    case add(Int)
    case remove(Int)
    /// Is answered by ``PeripheralRole/started(_:_:)``, when the radio advertises.
    case advertise(Int, isReported: Bool)
    case stopAdvertising
    /// Is answered by ``PeripheralRole/sent(to:)`` for each central.
    case send([UInt8], Place, to: [PeerIdentity])
    /// An error, or the value that is read; an empty one for a write.
    case answer(PeerIdentity, Int, ATTErrorCode?, [UInt8])
  }

  /// A report for the delegate.
  package enum Report: Sendable {
    case added(Int, CBError?)
    case started(CBError?)
    case subscribed(PeerIdentity, Place)
    case unsubscribed(PeerIdentity, Place)
    case requested(Request)
    case ready
  }

  /// The effects of a call or of an event.
  package struct Effects: Sendable {
    package var commands: [Command] = []
    package var reports: [Report] = []
    /// Why a call is ignored.
    package var misuse: String?

    package init(_ commands: [Command] = [], _ reports: [Report] = [], misuse: String? = nil) {
      self.commands = commands
      self.reports = reports
      self.misuse = misuse
    }
  }
}
