// One import for a program that uses the stack: adapters, scanning and connecting, GATT, rings, recordings.
@_exported import ATT
@_exported import BluetoothCore
@_exported import Capture
@_exported import GAP
@_exported import EventLoop
@_exported import GATTClient
@_exported import GATTServer
@_exported import HCI
@_exported import KnownDevices
@_exported import LinuxBluetooth
@_exported import Recording
@_exported import RingLink
@_exported import VirtualRing
