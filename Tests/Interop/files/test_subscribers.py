"""The subscribers of docs/mqtt.md in other programs, as the page has them: each runs where its program is installed.
Debian has neither Node-RED nor Telegraf; their parts are checked without them."""

import json
import re
import shutil
import signal
import subprocess
import tomllib

import pytest
from program import ROOT
from test_mqtt import (  # noqa: F401 (the fixtures)
    ADAPTER, RING, broker, free_port, make_broker, publish, wait_for)

PAGE = (ROOT / "docs/mqtt.md").read_text()


def block(language) -> str:
    """The page's one block in this language, for a broker on this machine."""
    text, = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)
    return text


def test_the_flow_is_complete():
    flow = json.loads(block("json"))
    known = {node["id"]: node["type"] for node in flow}
    assert sorted(known.values()) == ["file", "function", "mqtt in", "mqtt-broker"]
    assert all(wire in known for node in flow for wires in node.get("wires", []) for wire in wires)
    assert {known[node["broker"]] for node in flow if node["type"] == "mqtt in"} == {"mqtt-broker"}


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node")
def test_the_function_of_the_flow_drops_repeats():
    """Node-RED calls a function node with `msg` and `context`, and sends each message of a list in a list."""
    function, = [node["func"] for node in json.loads(block("json")) if node["type"] == "function"]
    script = """
        const kept = {}, context = {get: name => kept[name], set: (name, value) => { kept[name] = value }}
        const run = new Function('msg', 'context', process.argv[1])
        const records = batch => [{seq: batch}, {seq: -batch}]
        const batch = (session, batch) => run({payload: {session, batch, records: records(batch)}}, context)
        const out = [batch('a', 1), batch('a', 1), batch('b', 1), batch('a', 2)]
        for (let number = 3; number < 40; number++) batch('a', number)
        console.log(JSON.stringify([...out, batch('a', 39), kept.seen.a.length]))"""
    out = json.loads(subprocess.run(
        ["node", "-e", script, function], capture_output=True, text=True, check=True, timeout=30).stdout)

    def lines(number):
        return [[{"payload": json.dumps({"seq": value}, separators=(",", ":"))} for value in (number, -number)]]

    assert out == [lines(1), None, lines(1), lines(2), None, 16]


def test_the_configuration_of_telegraf_fits_the_topics():
    settings, = tomllib.loads(block("toml"))["inputs"]["mqtt_consumer"]
    pattern, = settings["topics"]
    parsing, = settings["topic_parsing"]
    topic = f"rings/kitchen/{RING}/state/battery".split("/")
    assert len(pattern.split("/")) == len(topic) == len(parsing["tags"].split("/"))
    assert dict(zip(parsing["tags"].split("/"), topic)) == {
        "_": "state", "computer": "kitchen", "ring": RING, "kind": "battery"}
    assert settings["json_v2"][0]["field"][0]["path"] == "value"


@pytest.mark.skipif(not shutil.which("node-red"), reason="there is no node-red")
def test_node_red_writes_each_record_once(halo, state, broker, tmp_path):  # noqa: F811
    broker.start()
    flow = json.loads(block("json"))
    for node in flow:
        if node["type"] == "mqtt-broker":
            node.update(broker="127.0.0.1", port=str(broker.port))
        if node["type"] == "file":
            node.update(filename=str(tmp_path / "records.jsonl"))
    (tmp_path / "flow.json").write_text(json.dumps(flow))
    log = tmp_path / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            ["node-red", "--userDir", tmp_path, "--port", str(free_port()), "flow.json"], cwd=tmp_path, stdout=out,
            stderr=out)
    try:
        wait_for("connection", lambda: "Connected to broker" in log.read_text(), 60)
        sent = []
        for _ in range(2):
            sent += halo.run(
                "stream", "--ppg", "--count", 40, "--format", "jsonl", "--mqtt", broker.url("rings/kitchen"),
                adapter=ADAPTER).succeeded().records()
        written = tmp_path / "records.jsonl"
        wait_for("records", lambda: written.exists() and len(written.read_text().splitlines()) >= len(sent))
        # A repeat, as QoS 1 allows.
        for number in (0, 0, 1):
            batch = json.dumps({"session": "a", "batch": number, "records": [{"seq": -1 - number}]})
            publish(broker, f"rings/kitchen/{RING}/stream", batch, "-q", "1")
        wait_for("the last", lambda: '"seq":-2' in written.read_text())
        lines = [json.loads(line) for line in written.read_text().splitlines()]
        assert lines == [*sent, {"seq": -1}, {"seq": -2}]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)


@pytest.mark.skipif(not shutil.which("telegraf"), reason="there is no telegraf")
def test_telegraf_stores_the_values(halo, state, broker, tmp_path):  # noqa: F811
    broker.start()
    text = block("toml").replace("broker.home:1883", f"127.0.0.1:{broker.port}")
    text = re.sub(r'^ *(?:username|password) = .*\n', "", text, flags=re.M)
    stored = tmp_path / "stored"
    text += f'[[outputs.file]]\n  files = ["{stored}"]\n  data_format = "json"\n[agent]\n  flush_interval = "1s"\n'
    (tmp_path / "telegraf.conf").write_text(text)
    process = subprocess.Popen(
        ["telegraf", "--config", tmp_path / "telegraf.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        halo.run(
            "stream", "--ppg", "--duration", "2s", "--mqtt", broker.url("rings/kitchen"), adapter=ADAPTER).succeeded()

        def values():
            lines = stored.read_text().splitlines() if stored.exists() else []
            metrics = [json.loads(line) for line in lines]
            return {metric["tags"]["kind"]: metric for metric in metrics}

        wait_for("steps", lambda: "steps" in values(), 30)
        battery = values()["battery"]
        assert battery["fields"]["value"] == 87
        assert (battery["tags"]["computer"], battery["tags"]["ring"]) == ("kitchen", RING)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
