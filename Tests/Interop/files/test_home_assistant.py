"""What Home Assistant is told, read by Home Assistant's own MQTT integration.

Of its versions, the newest is taken that the Python here can install: in an environment of its own, which takes minutes
the first time, and is made anew after a week. Others have found with users what a schema would have said: esphome 12353
and home-assistant/addons 4240 (object_id), ssenart/gazpar2mqtt 35, awilliams/wifi-presence 40 (default_entity_id).
"""

import json
import shutil
import subprocess
import sys
import time

import pytest
from mqtt_peer import MQTTPeer
from program import ROOT

pytestmark = pytest.mark.homeassistant

FOLDER = ROOT / ".build/homeassistant"
CHECK = ROOT / "Tests/Interop/support/home_assistant_check.py"
WEEK = 7 * 86400


@pytest.fixture(scope="module")
def python():
    """The Python that has Home Assistant, and what its MQTT integration requires."""
    venv = FOLDER / "venv"
    stamp = FOLDER / "made"
    made_of = sys.version
    is_new = stamp.exists() and stamp.read_text() == made_of and time.time() - stamp.stat().st_mtime < WEEK
    if not is_new:
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        subprocess.run(["/usr/bin/python3", "-m", "venv", venv], check=True)
        install = [venv / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "wheel"], check=True)
        subprocess.run([*install, "homeassistant"], check=True)
        manifest, = venv.glob("lib/python3*/site-packages/homeassistant/components/mqtt/manifest.json")
        subprocess.run([*install, *json.loads(manifest.read_text())["requirements"]], check=True)
        stamp.write_text(made_of)
    return venv / "bin/python"


def read(python, messages) -> list[str]:
    result = subprocess.run(
        [python, CHECK], input=json.dumps(messages), capture_output=True, text=True, timeout=120, check=True)
    return json.loads(result.stdout)


@pytest.fixture
def announced(halo, state, tmp_path):
    """What each kind of command says of a ring."""
    broker = MQTTPeer()
    options = ("--mqtt", f"mqtt://127.0.0.1:{broker.port}/rings", "--mqtt-discovery", "ha")
    ring = "virtual:fast,clock=2026-11-21T13:45:00,support=minute-spo2"
    halo.run("sync", "--store", tmp_path / "rings.sqlite", *options, adapter=ring).succeeded()
    halo.run("measure", "spo2", *options, adapter=ring).succeeded()
    halo.run("stream", "--ppg", "--count", 3, *options, adapter="virtual").succeeded()
    broker.close()
    return [
        (topic, payload.decode()) for topic, payload in broker.published
        if topic.startswith("ha/") and topic.endswith("/config")]


def test_home_assistant_takes_all_of_it(python, announced):
    assert len({topic for topic, _ in announced}) == 11
    assert read(python, announced) == []


def test_the_check_finds_what_is_wrong(python, announced):
    topic, payload = next((topic, payload) for topic, payload in announced if "battery" in topic)
    config = json.loads(payload)

    def said(**changes):
        return read(python, [(topic, json.dumps(config | changes))])

    assert said() == []
    assert "expire_after" in said(expire_after=-1)[0]
    assert "not known" in said(expires=3)[0]
    assert "unit" in said(unit_of_measurement="m")[0]
    assert "availability" in said(availability=[{"payload_available": "x"}])[0]
    assert "shows" in said(value_template="{{ value_json.battery }}")[0]
    assert "topic" in read(python, [("ha/sensor/config", payload)])[0]
