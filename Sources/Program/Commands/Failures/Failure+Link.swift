import HaloBluetoothCore
import HaloCommandLine

/// What a failure says about a link.
struct LinkContext: Sendable {
  /// Decides whether the link is made again.
  var fault = StackError.Fault.final
  /// What is said when the device is asked again; nil for a note with the message.
  var attempt: String?
}

extension Failure {
  var link: LinkContext {
    get { context as? LinkContext ?? LinkContext() }
    set { context = newValue }
  }

  init(_ code: ExitCode, _ message: String, _ fault: StackError.Fault) {
    self.init(code, message)
    link.fault = fault
  }
}
