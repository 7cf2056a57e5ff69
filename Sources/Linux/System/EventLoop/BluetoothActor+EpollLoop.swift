import HaloBluetoothCore

extension BluetoothActor: EventLoopProvider {
  package static var eventLoop: any StackExecutor { EpollLoop.shared }
}
