import HaloBluetoothCore

extension BluetoothActor: EventLoopProvider {
  public static var eventLoop: any StackExecutor { EpollLoop.shared }
}
