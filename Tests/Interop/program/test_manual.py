"""Manual pages and completion scripts, as man and the shells take them."""

import os
import re
import shutil
import subprocess

import pytest
from program import ROOT

SHELLS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}


@pytest.fixture(scope="module")
def pages(halo) -> dict:
    """All pages by their names."""
    text = halo.run("manual", "--all").succeeded().out
    return {page.split()[0].lower(): f".TH {page}" for page in text.split(".TH ")[1:]}


def test_each_command_has_a_page(halo, pages):
    commands = [line.split()[0] for line in halo.run("--help").out.splitlines() if line.startswith("  ")]
    assert halo.run("manual").succeeded().out == pages["halo-raw"]
    assert len(pages) > 25 and {"halo-raw-link", "halo-raw-config"} < set(pages)
    assert {name.removeprefix("halo-raw-") for name in pages} <= {*commands, "halo-raw"}
    assert halo.run("manual", "raw").succeeded().out == pages["halo-raw-raw"]


def test_each_page_has_the_date_of_the_version_and_its_sections_in_order(pages):
    (date,) = re.findall(r"^## \S+ - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[:1]
    sections = {"halo-raw-config": "5", "halo-raw-link": "7", "halo-raw-troubleshooting": "7"}
    order = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "FILES", "ENVIRONMENT", "EXIT STATUS", "SEE ALSO"]
    for name, text in pages.items():
        assert text.startswith(f'.TH {name.upper()} {sections.get(name, "1")} "{date}" "halo-raw '), name
        found = [title for title in re.findall(r"^\.SH (.*)$", text, re.MULTILINE) if title in order]
        assert found == [title for title in order if title in found] and found[:3] == order[:3], name
    assert re.findall(r"^\.SH (.*)$", pages["halo-raw-stream"], re.MULTILINE) == [title for title in order if title != "FILES"]


def test_the_configuration_file_has_a_page(pages):
    page = pages["halo-raw-config"]
    assert "config/halo\\-raw/config" in page and "HALO_CONFIG" in page
    assert {"FILES", "ENVIRONMENT", "EXAMPLES"} < set(re.findall(r"^\.SH (.*)$", page, re.MULTILINE))
    assert ".BR halo\\-raw\\-config (5)" in pages["halo-raw-stream"]


def test_pages_are_installed_in_their_sections(halo, tmp_path):
    subprocess.run([ROOT / "scripts/install-data", halo.path, tmp_path], check=True)
    names = {str(path.relative_to(tmp_path / "man")) for path in (tmp_path / "man").rglob("*.[0-9]")}
    assert {"man1/halo-raw.1", "man1/halo-raw-stream.1", "man5/halo-raw-config.5", "man7/halo-raw-link.7"} < names
    subprocess.run([ROOT / "scripts/install-data", "--remove", tmp_path], check=True)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.skipif(not shutil.which("man"), reason="there is no man")
def test_man_shows_each_page_without_a_warning(pages, tmp_path):
    for name, text in pages.items():
        path = tmp_path / f"{name}.1"
        path.write_text(text)
        shown = subprocess.run(
            ["man", "--warnings", "--local-file", str(path)], capture_output=True, text=True,
            env=os.environ | {"MANWIDTH": "80", "LC_ALL": "C.UTF-8"}, timeout=60)
        assert (shown.returncode, shown.stderr) == (0, ""), name
        assert "SYNOPSIS" in shown.stdout and "SEE ALSO" in shown.stdout


def test_a_page_says_what_the_help_says(halo, pages):
    words = pages["halo-raw-stream"].replace("\\-", "-").split()
    for word in halo.run("stream", "--help").succeeded().out.split():
        # Headings are in capitals; a long command line is continued in the help.
        assert word in words or word.upper() in words or word in ("\\", "Usage:", "stream:"), word


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_reads_its_script(halo, shell, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell}")
    script = tmp_path / "script"
    script.write_text(halo.run("completion", shell).succeeded().out)
    read = subprocess.run([*SHELLS[shell], str(script)], capture_output=True, text=True, timeout=60)
    assert (read.returncode, read.stderr) == (0, "")


def test_another_shell_is_refused(halo):
    halo.run("completion", "tcsh").failed(64, saying="give bash, zsh or fish")


@pytest.mark.parametrize(("words", "expected"), [
    (["stre"], ["stream"]),
    (["--adapter", "virtual", "stre"], ["stream"]),
    (["-v", "stream", "--pp"], ["--ppg"]),
    (["stream", "--pp"], ["--ppg"]),
    (["stream", "--format", ""], ["text", "csv", "jsonl"]),
    (["stream", "--count", ""], []),
    (["decode", "READ"], ["README.md"]),
    (["battery", "--record", "READ"], ["README.md"]),
    (["battery", "READ"], []),
])
def test_bash_completes(halo, words, expected, tmp_path):
    script = tmp_path / "script"
    script.write_text(halo.run("completion", "bash").succeeded().out)
    line = ["halo-raw", *words]
    program = (
        f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _halo_raw; '
        '[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(
        ["bash", "-c", program, "-", *line], cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert (done.stdout.split(), done.stderr) == (expected, "")
