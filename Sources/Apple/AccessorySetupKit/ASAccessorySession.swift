package import CoreBluetooth
@_exported import Foundation
internal import HaloRaw
internal import HaloSystem

/// The accessories that the user has chosen for this program, and the picker to choose another one. Events are reported
/// on the queue of the session, one after the other.
open class ASAccessorySession: NSObject, @unchecked Sendable {
  private struct Shared {
    var callbacks: CallbackQueue?
    var handler: UncheckedSendable<(ASAccessoryEvent) -> Void>?
    var accessories: [ASAccessory] = []
    var isInvalidated = false
    var settings: ASPickerDisplaySettings?
  }

  package typealias MakeCentral = @Sendable (any CBCentralManagerDelegate, DispatchQueue) -> CBCentralManager

  private let shared = LockedValue(Shared())
  private let face: PickerFace
  private let makeCentral: MakeCentral
  private let store: AccessoryStore
  private let names: PeripheralStore
  // On the queue of the session.
  private var picker: Picker?
  /// Ends the question for a name.
  private var answerQuestion: ((Result<String, ASError>) -> Void)?

  /// The adapter is that of a manager without options.
  public override convenience init() {
    self.init(
      face: .terminal, folder: PeripheralStore.folder(for: AdapterChoice()),
      program: ProcessInfo.processInfo.processName
    ) { CBCentralManager(delegate: $0, queue: $1) }
  }

  /// - Parameters:
  ///   - folder: where accessories are stored; nil to store nothing
  ///   - program: whose accessories these are
  package init(face: PickerFace, folder: String?, program: String, makeCentral: @escaping MakeCentral) {
    self.face = face
    self.makeCentral = makeCentral
    store = AccessoryStore(folder: folder, program: program)
    names = PeripheralStore(folder: folder)
    super.init()
  }

  /// Known from the event `activated` on.
  open var accessories: [ASAccessory] { shared.withLock { $0.accessories } }

  /// Begins the session: the stored accessories are read, and `activated` is reported.
  open func activate(on queue: DispatchQueue, eventHandler: @escaping (ASAccessoryEvent) -> Void) {
    let (callbacks, handler) = (CallbackQueue(queue), UncheckedSendable(eventHandler))
    let isFirst = shared.withLock { shared in
      guard shared.callbacks == nil, !shared.isInvalidated else { return false }
      shared.callbacks = callbacks
      shared.handler = handler
      return true
    }
    guard isFirst else { return reportMisuse("a session is activated once; activate(on:) has no effect") }
    callbacks.async { [self] in
      let stored = store.load()
      shared.withLock { $0.accessories = stored }
      report(.activated)
    }
  }

  /// Ends the session and its picker. The accessories remain.
  open func invalidate() {
    perform { [self] error in
      guard error == nil else { return }
      let ended = ASError(.invalidated, "the session has ended")
      shared.withLock { $0.isInvalidated = true }
      picker?.finish(.failure(ended))
      answerQuestion?(.failure(ended))
      report(.invalidated)
      shared.withLock { $0.handler = nil }
    }
  }

  // MARK: Picker

  /// The settings of the next picker; nil for the defaults. A copy is kept.
  open var pickerDisplaySettings: ASPickerDisplaySettings? {
    get { shared.withLock { $0.settings } }
    set {
      let copy = newValue.map { settings in
        let copy = ASPickerDisplaySettings()
        copy.discoveryTimeout = settings.discoveryTimeout
        return copy
      }
      shared.withLock { $0.settings = copy }
    }
  }

  /// Shows the picker without a kind of accessory, which Apple's systems allow after a migration. Fails.
  open func showPicker(completionHandler: @escaping ((any Error)?) -> Void) {
    showPicker(for: [], completionHandler: completionHandler)
  }

  /// Lets the user choose one accessory of the given kinds, other than those of the session.
  ///
  /// - Parameters:
  ///   - displayItems: the kinds
  ///   - completionHandler: called when the picker is dismissed, with the reason if nothing was chosen
  open func showPicker(
    for displayItems: [ASPickerDisplayItem], completionHandler: @escaping ((any Error)?) -> Void
  ) {
    perform { [self] error in
      if let error { return completionHandler(error) }
      guard picker == nil, answerQuestion == nil else {
        return completionHandler(ASError(.pickerAlreadyActive, "the picker is shown already"))
      }
      if let defect = displayItems.isEmpty
        ? "the picker needs a display item" : displayItems.lazy.compactMap(\.descriptor.fields.defect).first
      {
        return completionHandler(ASError(.invalidRequest, defect))
      }
      let queue = shared.withLock { $0.callbacks?.queue } ?? .main
      let excluded = Set(accessories.map(\.identifier))
      let time = (pickerDisplaySettings ?? .default).discoveryTimeout.rawValue
      let picker = Picker(displayItems, excluding: excluded, within: time, face, queue) { [self] result in
        picked(result, completionHandler)
      }
      self.picker = picker
      report(.pickerDidPresent)
      // The program may have ended the session in its handler.
      if self.picker === picker { picker.start(makeCentral) }
    }
  }

  private func picked(
    _ result: Result<Picker.Choice, ASError>, _ completionHandler: @escaping ((any Error)?) -> Void
  ) {
    let end = { [self] (error: ASError?) in
      picker = nil
      report(.pickerDidDismiss)
      completionHandler(error)
    }
    switch result {
    case .failure(let error): end(error)
    case .success(let choice):
      let accessory = ASAccessory(
        choice.identifier, displayName: choice.item.name, choice.item.descriptor)
      names.remember(choice.identifier, name: choice.name)
      saved(accessory, { $0.save($1, done: $2) }) { [self] error in
        if error == nil {
          shared.withLock { $0.accessories.append(accessory) }
          report(.accessoryAdded, accessory)
        }
        guard error == nil, choice.item.setupOptions.contains(.rename), face.isInteractive else {
          return end(error)
        }
        report(.pickerSetupRename, accessory)
        // The accessory is set up, whether the user enters a name or not.
        askForName(of: accessory) { _ in end(nil) }
      }
    }
  }

  // MARK: Accessories

  /// Deletes the stored data of an accessory. Its connections are not ended.
  open func removeAccessory(_ accessory: ASAccessory, completionHandler: @escaping ((any Error)?) -> Void) {
    perform { [self] error in
      if let error = error ?? missing(accessory) { return completionHandler(error) }
      saved(accessory, { $0.remove($1, done: $2) }) { [self] error in
        if error == nil {
          shared.withLock { $0.accessories.removeAll { $0 === accessory } }
          accessory.wasRemoved()
          report(.accessoryRemoved, accessory)
        }
        completionHandler(error)
      }
    }
  }

  /// Asks the user for another name. Fails without a terminal.
  open func renameAccessory(
    _ accessory: ASAccessory, options: ASAccessory.RenameOptions = [],
    completionHandler: @escaping ((any Error)?) -> Void
  ) {
    perform { [self] error in
      if let error = error ?? missing(accessory) { return completionHandler(error) }
      guard picker == nil, answerQuestion == nil else {
        return completionHandler(ASError(.pickerAlreadyActive, "the picker is shown already"))
      }
      guard face.isInteractive else {
        return completionHandler(ASError(.pickerRestricted, "a name is asked for on a terminal"))
      }
      askForName(of: accessory, then: completionHandler)
    }
  }

  private func askForName(of accessory: ASAccessory, then next: @escaping ((any Error)?) -> Void) {
    let before = accessory.displayName
    ask("New name of \(before.printable); an empty line cancels:\n") { [self] answer in
      guard case .success(let name) = answer else { return next(answer.failure) }
      accessory.rename(name)
      saved(accessory, { $0.save($1, done: $2) }) { [self] error in
        if error == nil {
          report(.accessoryChanged, accessory)
        } else {
          accessory.rename(before)
        }
        next(error)
      }
    }
  }

  private func ask(_ question: String, then answer: @escaping (Result<String, ASError>) -> Void) {
    let queue = shared.withLock { $0.callbacks?.queue } ?? .main
    face.write(question)
    let stop = face.readLines(queue) { [weak self] line in
      let text = (line ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
      self?.answerQuestion?(
        text.isEmpty ? .failure(ASError(.userCancelled, "no name was entered")) : .success(text))
    }
    answerQuestion = { [weak self] result in
      self?.answerQuestion = nil
      stop()
      answer(result)
    }
  }

  private func missing(_ accessory: ASAccessory) -> ASError? {
    if accessories.contains(where: { $0 === accessory }) { return nil }
    return ASError(.invalidRequest, "the session has no accessory \"\(accessory.displayName)\"")
  }

  // MARK: The queue

  /// Runs a request on the queue of the session, with the reason why it is not possible.
  private func perform(_ body: @escaping (ASError?) -> Void) {
    let callbacks = shared.withLock { $0.callbacks }
    (callbacks ?? CallbackQueue(nil)).asyncUnchecked { [self] in
      if callbacks == nil { return body(ASError(.invalidRequest, "activate the session first")) }
      let isInvalidated = shared.withLock { $0.isInvalidated }
      body(isInvalidated ? ASError(.invalidated, "the session has ended") : nil)
    }
  }

  /// Changes the store, and goes on when the file is written.
  private func saved(
    _ accessory: ASAccessory,
    _ change: (AccessoryStore, ASAccessory, @escaping @Sendable (ASError?) -> Void) -> Void,
    then next: @escaping (ASError?) -> Void
  ) {
    let (callbacks, next) = (shared.withLock { $0.callbacks } ?? CallbackQueue(nil), UncheckedSendable(next))
    change(store, accessory) { error in callbacks.async { next.value(error) } }
  }

  private func report(_ type: ASAccessoryEventType, _ accessory: ASAccessory? = nil) {
    shared.withLock { $0.handler }?.value(ASAccessoryEvent(type, accessory))
  }
}
