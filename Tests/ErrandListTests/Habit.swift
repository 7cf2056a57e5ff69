extension Lamp {
  /// What a lamp does that others do not, or does not.
  enum Habit {
    case none
    /// It does not answer the exchange of the MTU.
    case silentMTU
    /// It does not answer the subscription to Service Changed.
    case silentWatch
    /// It does not answer the discovery of services, but that of 1801.
    case silentDiscovery
    /// It does not answer reads of its battery.
    case silentRead
    /// It advertises, and takes no link: ``DeafDevice``.
    case deaf
    /// It ends its first link in place of the battery.
    case leavesAtARead
    /// It waits before each value of A003.
    case pauses
    /// It sends one value of A003, right behind the answer to the subscription.
    case hurries
    /// It ends each link after a second.
    case leaves
    /// It ends its link after a second, and does not advertise again.
    case leavesForGood
    /// A100 gets other handles when Service Changed is subscribed to.
    case changesAtOnce
    /// The same when its characteristics are discovered, and the answer has the old handles.
    case changesWhileDiscovered
    /// The same when A101 is read, and the answer is the old value.
    case changesDuringARead
    /// The same, and the answer is Invalid Handle.
    case changesBeforeARead
    /// A100 gets other handles when A101 was read.
    case changesLater
    /// The same, and again when that was confirmed.
    case changesTwice
  }
}
