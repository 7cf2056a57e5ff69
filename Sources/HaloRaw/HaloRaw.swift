// One import for a program that uses the stack: adapters, scanning and connecting, GATT, rings, recordings.
@_exported import ATT
@_exported import BluetoothCore
@_exported import GAP
@_exported import GATTClient
@_exported import GATTServer
@_exported import HCI
@_exported import HaloCapture
@_exported import HaloEventLoop
@_exported import HaloGATT
@_exported import HaloKnownDevices
@_exported import HaloLinuxBluetooth
@_exported import HaloRecording
@_exported import RingLink
@_exported import VirtualRadio
@_exported import VirtualRing
