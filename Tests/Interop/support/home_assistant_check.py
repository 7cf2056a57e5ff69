"""Reads announcements for Home Assistant as its MQTT integration does: topics, schemas, units, templates.

Runs with the Python that has Home Assistant. Standard input has a JSON list of topics and payloads; standard output
gets a list of what is wrong.
"""

import importlib
import json
import sys

import jinja2
import voluptuous
from homeassistant.components.mqtt import discovery
from homeassistant.components.sensor import const as sensor
from homeassistant.const import __version__

# The version that knows an option of ours; an older one leaves it out.
SINCE = {"default_entity_id": (2025, 10)}
NOW = tuple(map(int, __version__.split(".")[:2]))
VALUES = {"battery": 87, "charging": True, "sleep": 451, "temperature": 34.6}


def left_out(given, taken, path=""):
    """The members that the schema does not know, and so removes."""
    if isinstance(given, dict) and isinstance(taken, dict):
        for name, value in given.items():
            if name not in taken:
                yield path + name
            else:
                yield from left_out(value, taken[name], f"{path}{name}.")
    elif isinstance(given, list) and isinstance(taken, list):
        for one, other in zip(given, taken):
            yield from left_out(one, other, path)


def wrong(topic, payload):
    prefix, _, rest = topic.partition("/")
    match = discovery.TOPIC_MATCHER.fullmatch(rest)
    if not match or match["component"] not in discovery.SUPPORTED_COMPONENTS:
        yield "the topic is not one of its discovery"
        return
    component = match["component"]
    config = json.loads(payload)
    # What discovery adds before a platform sees it.
    given = config | {"platform": "mqtt"}
    try:
        taken = importlib.import_module(f"homeassistant.components.mqtt.{component}").DISCOVERY_SCHEMA(given)
    except voluptuous.Invalid as error:
        yield str(error)
        return
    for name in left_out(config, taken):
        if SINCE.get(name, (0, 0)) <= NOW:
            yield f"{name} is not known"
    device_class = taken.get("device_class")
    if component == "sensor" and device_class is not None:
        if taken.get("unit_of_measurement") not in sensor.DEVICE_CLASS_UNITS.get(device_class, {None}):
            yield f"{device_class} has no unit {taken.get('unit_of_measurement')}"
        if taken.get("state_class") not in sensor.DEVICE_CLASS_STATE_CLASSES.get(device_class, set()):
            yield f"{device_class} has no state class {taken.get('state_class')}"
    if template := config.get("value_template"):
        value = VALUES.get(config["unique_id"].split("_", 2)[2], 61)
        shown = jinja2.Template(template).render(value_json={"value": value, "time": "now"})
        if shown != ({True: "ON", False: "OFF"}[value] if component == "binary_sensor" else str(value)):
            yield f"{template} shows {value} as {shown}"


if __name__ == "__main__":
    print(f"Home Assistant {__version__}", file=sys.stderr)
    print(json.dumps([
        f"{topic}: {what}" for topic, payload in json.load(sys.stdin) for what in wrong(topic, payload)]))
