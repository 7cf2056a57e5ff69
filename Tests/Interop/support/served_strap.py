"""The virtual ring as a heart-rate strap, for a phone of shared_radio.py."""

import signal


def start_strap(halo, radio, *options):
    process = halo.start("strap", "--to", radio.adapters[0], *options, adapter="virtual:warm-up=1,seed=7")
    assert "advertises at" in process.stderr.readline()
    return process


def end_strap(halo, process):
    process.send_signal(signal.SIGINT)
    halo.wait(process).succeeded()
