import GAP
import GATTClient
import HCI
import HaloCommandLine

/// What a failure says about a link.
extension Failure {
  private struct LinkContext: Sendable {
    var fault = LinkKeeper.Fault.final
    var lostIn: LinkProcedure?
    var attempt: String?
  }

  private var link: LinkContext {
    get { context as? LinkContext ?? LinkContext() }
    set { context = newValue }
  }

  /// Decides whether the link is made again.
  var fault: LinkKeeper.Fault {
    get { link.fault }
    set { link.fault = newValue }
  }

  /// The procedure in which a new link was lost, if that is known.
  var lostIn: LinkProcedure? {
    get { link.lostIn }
    set { link.lostIn = newValue }
  }

  /// What is said when the device is asked again; nil for a note with the message.
  var attempt: String? {
    get { link.attempt }
    set { link.attempt = newValue }
  }

  init(_ code: ExitCode, _ message: String, _ fault: LinkKeeper.Fault) {
    self.init(code, message)
    self.fault = fault
  }
}
