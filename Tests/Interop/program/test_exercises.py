"""The exercises of docs/: three at the end of each chapter, each with a folded answer that commands show.

What authors of courses report, in public: an answer that is visible all the same (Techtonica/curriculum 1482,
ocaml/ocaml.org 3544), code that is not rendered in a folded part, for want of blank lines
(improving-minnesota/react-redux-workshop 65, hbctraining/Intro-to-ChIPseq 19), answers that are asked for
(microbiome/OMA 297, chaincodelabs/onboarding-to-bitcoin-core 46).
"""

import re

import btsnoop
import pytest
from docs_blocks import BLOCK, commands
from program import ROOT

pytestmark = pytest.mark.verdict

DOCS = ROOT / "docs"
CHAPTERS = {path.name: path.read_text() for path in sorted(DOCS.glob("[01][0-9]-*.md"))}
EXERCISE = re.compile(r"^\*\*(\d)\.\*\* ", re.MULTILINE)
OPENING, CLOSING = "\n\n<details>\n<summary>Answer</summary>\n\n", "\n\n</details>\n"
OFFSET = re.compile(r"\bod .*-j (\d+) -N (\d+) (captures/\S+\.btsnoop)")


def exercises(text: str) -> list[tuple[str, str]]:
    """The question and the answer of each exercise."""
    _, _, part = text.partition("\n## Exercises\n")
    part = re.split(r"^(?:## |Next: |Back to )", part, maxsplit=1, flags=re.MULTILINE)[0]
    numbers = EXERCISE.findall(part)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    found = []
    for one in EXERCISE.split(part)[2::2]:
        question, opening, rest = one.partition(OPENING)
        answer, closing, behind = rest.partition(CLOSING)
        assert opening and closing and not behind.strip(), one
        found.append((question, answer))
    return found


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_three_exercises_with_answers(name):
    found = exercises(CHAPTERS[name])
    assert len(found) == 3
    for question, answer in found:
        assert "?" in question
        blocks = BLOCK.findall(answer)
        assert [one for block in blocks for one in commands(block) if "halo-raw" in one], answer
        # A block has blank lines about it, and the answer has a sentence.
        assert BLOCK.sub("", answer).strip().endswith((".", ":", "?"))
        assert all(f"\n\n```console\n{block}```" in f"\n\n{answer}" for block in blocks)


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_answer_stands_in_the_chapter(name):
    above, _, part = CHAPTERS[name].partition("\n## Exercises\n")
    shown = {one for block in BLOCK.findall(above) for one in commands(block)}
    assert not shown & {one for block in BLOCK.findall(part) for one in commands(block)}


@pytest.mark.parametrize("name", [path.name for path in sorted(DOCS.glob("*.md"))])
def test_folded_parts_are_whole(name):
    text = (DOCS / name).read_text()
    assert text.count("<details>") == text.count("</details>") == text.count("<summary>") == text.count("</summary>")


def test_bytes_of_a_recording_begin_where_a_packet_does():
    """`od` with an offset shows other bytes when a recording has been made anew."""
    texts = [(name, OFFSET.findall(text)) for name, text in CHAPTERS.items()]
    assert sum(len(found) for _, found in texts) >= 4
    for name, found in texts:
        for start, count, capture in found:
            packets, offset = {}, len(btsnoop.HEADER)
            for one in btsnoop.read(ROOT / capture):
                offset += btsnoop.RECORD.size
                packets[offset] = len(one.packet)
                offset += len(one.packet)
            assert packets.get(int(start)) == int(count), (name, start)
