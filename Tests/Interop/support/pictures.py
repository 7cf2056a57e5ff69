#!/usr/bin/env python3
"""Draws the pictures of docs/ from the recordings: scripts/pictures writes them, test_pictures.py compares."""

import sys

import pictures_air
import pictures_packets
import pictures_parts
import pictures_security
import pictures_sequences
from built import ROOT

FOLDER = ROOT / "docs/pictures"
DRAWN = {
    "parts": pictures_parts.parts,
    "flow-control": pictures_sequences.flow_control,
    "advertising": pictures_air.advertising,
    "connection-events": pictures_air.connection_events,
    "connection-parameters": pictures_air.parameters,
    "states": pictures_air.states,
    "sample": pictures_packets.sample,
    "session": pictures_packets.session,
    "attributes": pictures_packets.table,
    "pdu-kinds": pictures_sequences.pdu_kinds,
    "subscription": pictures_sequences.subscription,
    "bulk-frame": pictures_packets.bulk,
    "sockets": pictures_parts.sockets,
    "hopping": pictures_air.hopping,
    "extended-advertising": pictures_air.train,
    "pairing": pictures_security.pairing,
    "association-models": pictures_security.association,
}


if __name__ == "__main__":
    for name in sys.argv[1:] or DRAWN:
        (FOLDER / f"{name}.svg").write_text(DRAWN[name]().svg())
