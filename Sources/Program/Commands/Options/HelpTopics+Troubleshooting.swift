import HaloCommandLine

extension HelpTopic {
  /// Why a ring is not found, or sends nothing; docs/troubleshooting.md has more of it.
  static var ofTroubles: HelpPage {
    HelpPage(
      name: "halo-raw-troubleshooting", section: .overview,
      summary: "why a ring is not found, or sends nothing",
      synopsis: "halo-raw doctor",
      lists: [
        .init("The ring is not found", absence), .init("The adapter can't be used", adapter),
        .init("The stream is slow, or has gaps", stream), .init("A device wants pairing", pairing),
        .init("A service does not run", services),
      ],
      examples: [
        ("halo-raw scan --duration 5s --adapter virtual", "what advertises, and how strongly"),
        ("halo-raw battery -v --adapter virtual", "what the program does until the answer"),
      ],
      description: [
        """
        halo-raw doctor checks the adapter, the kernel, the rights and what else uses the radio; each problem comes with \
        its fix. This page has what it can't see.
        """
      ])
  }

  private static let absence: [HelpPage.Row] = [
    (
      "its phone app",
      "a ring that a phone is connected to does not advertise: close the app, or switch the phone's Bluetooth off"
    ),
    ("another command", "halo-raw status shows what has it; sudo halo-raw status shows services, too"),
    ("the battery", "put it on its charger for some minutes; after power-off, that is what starts it"),
    ("the distance", "halo-raw scan shows dBm: less than -85 is too far"),
    ("its name", "halo-raw scan marks what may be a ring; give its name or its address"),
    ("several rings", "name one of those that the message lists, or give --all"),
  ]

  private static let adapter: [HelpPage.Row] = [
    ("none", "plug one in; on a Raspberry Pi, look for disable-bt in /boot/firmware/config.txt"),
    ("the kernel", "without Bluetooth, sudo modprobe bluetooth btusb; docs/08-the-kernel.md has its faults"),
    ("it is down", "sudo halo-raw adapters up hci0; if it is blocked, sudo rfkill unblock bluetooth"),
    ("no permission", "sudo usermod -aG halo $USER and a new login, or sudo"),
    ("it is in use", "user:hciN is for one program: use hciN beside bluetoothd, or --take"),
    ("too many links", "controllers have 5 to 8: end some"),
  ]

  private static let stream: [HelpPage.Row] = [
    (
      "one a second",
      "a stock ring sends no more, which is no wave: measure heart-rate --continuous, or stream --measure heart-rate"
    ),
    ("no heart rate", "wear the ring with its sensor on the palm's side, and keep still for half a minute"),
    ("late samples", "leave out --interval, and end other links of the adapter"),
    ("gaps", "move the adapter away from WiFi on 2.4 GHz, and closer; --retry-for forever goes on by itself"),
    ("its charger", "rings do not measure there"),
  ]

  private static let pairing: [HelpPage.Row] = [
    ("it refuses", "halo-raw pair DEVICE, once; some have a button for that; a ring: --bond (docs/bond.md)"),
    ("it was reset", "halo-raw bonds forget DEVICE, and pair again; let the device forget this machine, too"),
    ("a passkey", "pair on a terminal, or with --interface both"),
    ("the bonds", "a file that can't be read is named: put a copy in its place, or remove it and pair again"),
  ]

  private static let services: [HelpPage.Row] = [
    ("its message", "journalctl -u halo-raw-measure -n 20"),
    (
      "another service",
      "halo-raw-measure, halo-raw-stream and halo-raw-strap exclude each other, as a ring has one link"
    ),
    ("the broker", "a service has no network unless systemctl edit allows it (docs/weeks.md)"),
  ]
}
