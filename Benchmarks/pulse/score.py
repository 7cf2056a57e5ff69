"""How far the beats that a detector has found are those of the heart.

One constant delay of the detector is taken out of each record, and the first 8 s do not count. An interval is accepted if both
of its beats are, and nothing stands between them; it is a lie if it is no interval of the heart, or more than 50 ms off.
"""

from dataclasses import dataclass

import light
import numpy as np

TOLERANCE, WARM_UP, LIE = 0.150, 8.0, 0.050
ACCEPTED = 0.5


@dataclass
class Found:
    """The beats of a detector."""

    time: np.ndarray
    quality: np.ndarray
    said: np.ndarray
    reason: list[str]
    begins: np.ndarray  # no interval leads to this beat

    @staticmethod
    def parse(text: str) -> "Found":
        """Reads `time[,quality[,said[,reason]]]` and `break,time`."""
        rows, begins, is_broken = [], [], True
        for line in text.splitlines():
            if not line or line[0] == "#":
                continue
            fields = line.split(",")
            if fields[0] == "break":
                is_broken = True
                continue
            values = [float(field) if field else np.nan for field in fields[:3]] + [np.nan] * (3 - len(fields[:3]))
            rows.append((values[0], 1.0 if np.isnan(values[1]) else values[1], values[2], (fields + [""] * 4)[3]))
            begins.append(is_broken)
            is_broken = False
        return Found(
            np.array([row[0] for row in rows]), np.array([row[1] for row in rows]), np.array([row[2] for row in rows]),
            [row[3] for row in rows], np.array(begins, bool))

    @staticmethod
    def of(times, is_good=None) -> "Found":
        """Those of a detector that says times alone, and perhaps which of them are good; nothing leads across 2.5 s."""
        times = np.asarray(times, float)
        quality = np.ones(len(times)) if is_good is None else np.asarray(is_good, float)
        return Found(times, quality, np.full(len(times), np.nan), [""] * len(times), np.r_[True, np.diff(times) > 2.5])


def _inside(times, spans, margin=0.0):
    times = np.asarray(times, float)
    result = np.zeros(len(times), bool)
    for span in spans:
        result |= (times >= span[0] - margin) & (times <= span[1] + margin)
    return result


def _pairs(found, beats):
    """Pairs of indices, the nearest first, each used once."""
    if not len(found) or not len(beats):
        return np.zeros((0, 2), int)
    candidates = []
    for index, time in enumerate(found):
        first, last = np.searchsorted(beats, (time - TOLERANCE, time + TOLERANCE))
        candidates += [(abs(beats[other] - time), index, other) for other in range(first, last)]
    used_found, used_beats, result = set(), set(), []
    for _, index, other in sorted(candidates):
        if index not in used_found and other not in used_beats:
            used_found.add(index)
            used_beats.add(other)
            result.append((index, other))
    return np.array(sorted(result)).reshape(-1, 2)


def _nearest(times, beats):
    """The distance of each time from the nearest beat."""
    after = np.searchsorted(beats, times)
    right = times - beats[np.clip(after, 0, len(beats) - 1)]
    left = times - beats[np.clip(after - 1, 0, len(beats) - 1)]
    return np.where(np.abs(right) < np.abs(left), right, left)


def _delay(times, beats):
    """The constant delay of a detector's point of the wave."""
    if not len(times):
        return 0.0
    candidates = np.arange(-0.25, 0.46, 0.02)
    fits = [np.sum(np.exp(-0.5 * (_nearest(times - delay, beats) / 0.04) ** 2)) for delay in candidates]
    delay = candidates[int(np.argmax(fits))]
    near = _nearest(times - delay, beats)
    near = near[np.abs(near) < 0.12]
    return delay + (float(np.median(near)) if len(near) > 3 else 0.0)


def rmssd(intervals, follows):
    """In milliseconds; `follows` says which interval comes right after the one before."""
    differences = np.diff(intervals)[follows[1:]]
    return 1000 * np.sqrt(np.mean(differences**2)) if len(differences) > 8 else np.nan


def score(record: light.Record, found: Found) -> dict:
    """The counts of one record, which `summarize` adds up."""
    accepted = found.quality >= ACCEPTED
    if not len(record.beats):
        lies = int(np.sum(accepted[1:] & accepted[:-1] & ~found.begins[1:])) if len(accepted) > 1 else 0
        return {"name": record.name, "category": record.category, "from nothing": lies}
    if len(found.time) and np.any(np.diff(found.time) <= 0) and not len(record.steps):
        order = np.argsort(found.time, kind="stable")
        found = Found(
            found.time[order], found.quality[order], found.said[order], [found.reason[index] for index in order],
            found.begins[order])
        accepted = found.quality >= ACCEPTED
    beats, begin, end = record.beats, record.t[0] + WARM_UP, max(record.t[-1], record.t[0] + 1) - 2
    hidden = [span for span in record.blind if span[2] in (light.NO_CONTACT, light.CLIPPED)]
    ignored = [span for span in record.blind if span[2] in (light.LOST, light.LEFT_OUT)]
    times = found.time - _delay(found.time, np.sort(beats))
    is_beat = (beats >= begin) & (beats <= end) & ~_inside(beats, ignored, 0.3) & ~_inside(beats, hidden)
    is_counted = (times >= begin) & (times <= end) & ~_inside(times, ignored, 0.3)
    hit, is_hit = np.full(len(times), -1), np.zeros(len(beats), bool)
    for index, beat in _pairs(times, beats):
        hit[index], is_hit[beat] = beat, True
    hit[_inside(times, hidden) & (hit >= 0)] = -2
    result = {
        "name": record.name, "category": record.category, "true": int(np.sum(is_counted & (hit >= 0))),
        "false": int(np.sum(is_counted & (hit < 0))), "missed": int(np.sum(is_beat & ~is_hit))}

    # The accepted intervals.
    step = np.diff(found.time)
    ends = [
        index for index in range(1, len(times))
        if accepted[index] and accepted[index - 1] and not found.begins[index] and 0.2 < step[index - 1] < 2.5]
    ends = np.array(ends, int)
    error = np.full(len(ends), np.nan)
    counts, is_good = np.zeros(len(ends), bool), np.zeros(len(ends), bool)
    for place, index in enumerate(ends):
        start, stop = times[index - 1], times[index]
        is_near_step = any(
            when + min(0, by) - 3 < start < when + max(0, by) + 3 for when, by in record.steps)
        counts[place] = is_counted[index] and is_counted[index - 1] and not is_near_step
        if any(by > 0 and start < when and stop > when + by for when, by in record.steps):
            counts[place] = True  # an interval across a step of the clock
            continue
        first, second = hit[index - 1], hit[index]
        if first >= 0 and second == first + 1:
            error[place] = (stop - start) - (beats[second] - beats[first])
            is_good[place] = abs(error[place]) <= LIE
    errors = error[counts & is_good]
    result |= {
        "intervals": int(counts.sum()), "lies": int(np.sum(counts & ~is_good)),
        "interval error": float(1000 * np.std(errors)) if len(errors) > 5 else np.nan}

    # The intervals of the heart, at rest and in movement, and which of them came out.
    is_interval, is_moved = np.zeros(len(beats) - 1, bool), np.zeros(len(beats) - 1, bool)
    for index in range(len(beats) - 1):
        start, stop = beats[index], beats[index + 1]
        near_step = any(start - 3 < when + shift < stop + 3 for when, by in record.steps for shift in (0, by))
        is_interval[index] = (
            is_beat[index] and is_beat[index + 1] and stop > start and not near_step
            and not _inside([(start + stop) / 2], record.blind).any())
        is_moved[index] = bool(_inside([start, stop, (start + stop) / 2], record.motion).any())
    came = np.zeros(len(beats) - 1, bool)
    came[hit[ends[is_good] - 1]] = True
    result |= {
        "at rest": int(np.sum(is_interval & ~is_moved)), "kept": int(np.sum(is_interval & ~is_moved & came))}

    # Rates of windows of 10 s, of three intervals or more.
    middle, length = (times[ends] + times[ends - 1]) / 2, found.time[ends] - found.time[ends - 1]
    rates = []
    for start in np.arange(begin, end - 10, 10.0):
        inside = (beats[:-1] >= start) & (beats[1:] <= start + 10) & is_interval
        if inside.sum() < 4:
            continue
        own = (middle >= start) & (middle < start + 10)
        truth = 60 / np.mean(np.diff(beats)[inside])
        rates.append((truth, 60 / np.mean(length[own]) if own.sum() >= 3 else np.nan))
    rates = np.array(rates).reshape(-1, 2)
    known = np.isfinite(rates[:, 1])
    difference = np.abs(rates[known, 1] - rates[known, 0])
    result |= {
        "windows": len(rates), "rated": int(known.sum()), "rate error": float(difference.sum()),
        "rates off": int(np.sum(difference > 5)), "rates": rates[known].tolist()}

    # The variability of the whole record.
    extra = record.extra[:len(beats)]
    normal = is_interval & (extra[1:] == 0) & (extra[:-1] == 0)
    follows = np.r_[False, normal[1:] & normal[:-1]][normal]
    is_odd = np.array([reason in ("ectopic", "irregular") for reason in found.reason], bool)
    own = [place for place, index in enumerate(ends) if counts[place] and not is_odd[index] and not is_odd[index - 1]]
    own_follows = np.r_[False, np.diff(ends[own]) == 1] if own else np.zeros(0, bool)
    result |= {
        "rmssd": rmssd(np.diff(beats)[normal], follows),
        "found rmssd": rmssd(length[own], own_follows) if len(own) > 9 else np.nan}
    delays = [
        found.said[index] - beats[hit[index]] for index in range(len(times))
        if hit[index] >= 0 and np.isfinite(found.said[index])]
    result["latency"] = float(np.median(delays)) if delays else np.nan
    return result


def summarize(rows) -> dict:
    """The figures of some records together."""
    nothing = [row for row in rows if "from nothing" in row]
    rows = [row for row in rows if "from nothing" not in row]

    def total(name):
        return float(sum(row[name] for row in rows))

    def percent(part, whole):
        return 100 * part / whole if whole else np.nan

    def mean(values):
        values = [value for value in values if np.isfinite(value)]
        return float(np.mean(values)) if values else np.nan

    return {
        "f1": percent(2 * total("true"), 2 * total("true") + total("false") + total("missed")),
        "lies": percent(total("lies"), total("intervals")),
        "rates off": percent(total("rates off"), total("rated")),
        "rated": percent(total("rated"), total("windows")),
        "rate error": total("rate error") / total("rated") if total("rated") else np.nan,
        "interval error": mean(row["interval error"] for row in rows),
        "rmssd error": mean(abs(row["found rmssd"] - row["rmssd"]) for row in rows),
        "kept": percent(total("kept"), total("at rest")),
        "latency": mean(row["latency"] for row in rows),
        "from nothing": sum(row["from nothing"] for row in nothing),
    }
