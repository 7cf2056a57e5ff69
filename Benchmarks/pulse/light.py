"""Simulated light of a ring, with beats at known times: a function of a seed and of the parameters alone.

The counts fall when blood comes, as those of a reflecting sensor do. The samples come over a link: in connection events, of
which some are repeated and some are lost. All of this is simulated; no wave of a real ring was recorded for it.
"""

from dataclasses import dataclass, field

import numpy as np

# A pulse is two bells: the systolic one (delay, rise, fall) and the dicrotic one (delay, width, gain); seconds.
SHAPES = {
    "young": ((0.16, 0.055, 0.12), (0.40, 0.075, 0.38)),
    "mid": ((0.18, 0.065, 0.15), (0.42, 0.10, 0.22)),
    "stiff": ((0.23, 0.085, 0.17), (0.40, 0.12, 0.10)),
}
# What a span without a usable pulse is: no contact, clipped, or packets lost; 4 is left out of a score.
NO_CONTACT, CLIPPED, LOST, LEFT_OUT = 1, 2, 3, 4
# A ring's link: events 15 ms apart, 2 % of the packets repeated, a counter, a clock that is 60 ppm fast.
LINK = {"interval": 0.015, "retry": 0.02, "jitter": 0.003, "ppm": 60, "counted": True}


@dataclass
class Record:
    """A stream as it arrived, and what is true of it."""

    name: str
    category: str
    rate: float
    t: np.ndarray  # arrivals, seconds
    ppg: np.ndarray  # counts; 0 for no value
    acceleration: np.ndarray | None  # g, a row for each sample
    counter: np.ndarray  # of the packets, modulo 256; -1 for none
    beats: np.ndarray  # seconds, on the clock of t: the feet of the pulses
    extra: np.ndarray  # 1 for an extra beat, and for the one after it
    blind: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # start, end, why
    motion: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # start, end, kind
    steps: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))  # when the clock was set, by how much

    def csv(self, end: float = np.inf) -> str:
        """The columns that `halo-raw beats` reads, until a time."""
        lines = ["t,ppg,x,y,z,n"]
        for index in np.flatnonzero(self.t <= end):
            axes = ",,"
            if self.acceleration is not None:
                axes = ",".join(f"{axis:.3f}" for axis in self.acceleration[index])
            counter = self.counter[index] if self.counter[index] >= 0 else ""
            lines.append(f"{self.t[index]:.6f},{self.ppg[index]},{axes},{counter}")
        return "\n".join(lines) + "\n"


def _heart(rng, seconds, rate, breath, variation, extra, fibrillation, ramp):
    """The times of beats from 0 on, and a mark of extra ones (1) and of the pause after them (2)."""
    sinus, slow, wander, white = variation
    times, marks = [0.0], [0]
    phase = rng.uniform(0, 2 * np.pi, 3)
    time = drift = pause = 0.0
    while time < seconds + 3:
        now = rate if ramp is None else np.interp(time, [0, seconds * 0.4, seconds], ramp)
        drift = 0.97 * drift + rng.normal(0, wander * 0.25)
        swing = sinus * np.sin(2 * np.pi * breath * time + phase[0]) + slow * np.sin(2 * np.pi * 0.1 * time + phase[1])
        interval = 60 / now * (1 + swing + drift + rng.normal(0, white))
        mark = 0
        if fibrillation:
            interval = 60 / now * np.clip(rng.gamma(1 / fibrillation**2, fibrillation**2), 0.55, 1.9)
        if pause:
            interval, pause, mark = interval * pause, 0, 2
        elif extra and rng.random() < extra and len(times) > 6:
            early = rng.uniform(0.58, 0.75)
            interval, pause, mark = interval * early, 2 - early, 1
        time += max(0.28, interval)
        times.append(time)
        marks.append(mark)
    return np.array(times), np.array(marks)


def _blood(t, beats, sizes, shape):
    """The pulses of the beats, a systole of size 1 each."""
    (delay, rise, fall), (delay2, width2, gain2) = SHAPES[shape]
    blood = np.zeros(len(t))
    intervals = np.append(np.diff(beats), np.diff(beats)[-1:])
    for beat, size, interval in zip(beats, sizes, intervals, strict=True):
        scale = np.clip(np.sqrt(interval / 0.85), 0.72, 1.2)  # a fast heart's pulses are shorter
        first, last = np.searchsorted(t, (beat - 0.15, beat + 1.5))
        x = (t[first:last] - beat) / scale
        width = np.where(x < delay, rise, fall)
        systole = np.exp(-0.5 * ((x - delay) / width) ** 2)
        blood[first:last] += size * (systole + gain2 * np.exp(-0.5 * ((x - delay2) / width2) ** 2))
    return blood


def _slow_noise(rng, count, rate, frequency):
    """Noise of variance 1 below about a frequency."""
    step = max(1, int(rate / frequency))
    knots = count // step + 4
    return np.interp(np.arange(count) / step, np.arange(knots), rng.normal(0, 1, knots))


class _Spans:
    """Places for disturbances, which do not touch each other."""

    def __init__(self, rng, seconds):
        self.rng, self.seconds, self.taken = rng, seconds, []

    def take(self, count, shortest, longest):
        """Yields spans one by one: what is drawn in between is part of the sequence, as is what is drawn for places."""
        found = []
        for _ in range(count * 30):
            if len(found) == count:
                break
            length = self.rng.uniform(shortest, longest)
            start = self.rng.uniform(12, self.seconds - length - 3)
            if all(start + length + 4 < first or start > last + 4 for first, last in self.taken):
                found.append((start, start + length))
                self.taken.append((start, start + length))
        return found


def record(
    name, category, seed, rate=25, seconds=120, heart=65, depth=250, base=11500, noise=8, shape="mid", breath=0.25,
    sinus=0.03, slow=0.025, wander=0.02, white=0.006, extra=0.0, fibrillation=0.0, ramp=None, breathing=0.4, drift=1.5,
    motion=0, motion_gain=3.0, cadence=0.0, hidden=0, harmless=0, contact=0, ceiling=None, ceiling_drift=0.0, jitter=0.0,
    interval=0.0, retry=0.0, loss=0.0, burst=0, zeros=0.0, steps=(), ppm=0.0, flip=False, counted=False, dead=False,
    pressure=0,
) -> Record:
    """A stream of light and acceleration.

    heart: beats a minute; depth: of a pulse, counts; noise: counts; extra: the share of extra beats; motion: how many
    movements; cadence: steps a second; hidden: movements that no acceleration shows; harmless: those that the light does not
    show; contact: how often it is lost; ceiling: counts at which the light is clipped; interval: of the link's events, seconds;
    retry, loss, zeros: shares of packets; burst: how many losses in a row; steps: (when, by how much) the clock is set.
    """
    rng = np.random.default_rng(seed)
    count = int(seconds * rate)
    t = np.arange(count) / rate
    beats, marks = _heart(rng, seconds, heart, breath, (sinus, slow, wander, white), extra, fibrillation, ramp)
    beats = beats + rng.uniform(0, 0.5)
    sizes = 1 + 0.12 * np.sin(2 * np.pi * breath * beats + 1) + rng.normal(0, 0.04, len(beats))
    grid = np.arange(0, seconds + 40, 20)
    sizes *= 1 + 0.25 * np.interp(beats, grid, rng.normal(0, 1, len(grid))).clip(-1.5, 1.5)
    filling = np.append(1, np.diff(beats) / np.median(np.diff(beats)))
    sizes *= np.clip(filling, 0.35, 1.4) ** (1.3 if extra or fibrillation else 0.3)  # a short filling, a small pulse
    sizes = np.clip(sizes, 0.15, 3)
    signal = depth * (np.zeros(count) if dead else _blood(t, beats, sizes, shape))
    signal += depth * breathing * np.sin(2 * np.pi * breath * t + 0.3 * _slow_noise(rng, count, rate, 0.1))
    signal += depth * drift * _level(rng, count, rate, seconds)
    axes = [mean + 0.003 * rng.normal(0, 1, count) for mean in (0.12, -0.98, 0.15)]
    acceleration = np.stack(axes, 1) + 0.01 * np.sin(2 * np.pi * breath * t)[:, None]
    moved, blind = [], []
    spans = _Spans(rng, seconds)

    def window(start, end):
        return np.clip(np.minimum((t - start) / 0.3, (end - t) / 0.3), 0, 1)

    if cadence:
        shape_of_walk = window(15, seconds - 10)
        phase = 2 * np.pi * np.cumsum(cadence * (1 + 0.02 * _slow_noise(rng, count, rate, 0.3))) / rate
        step = np.sin(phase) + 0.5 * np.sin(2 * phase + 1) + 0.6 * np.sin(phase / 2 + 0.5)
        acceleration += shape_of_walk[:, None] * np.outer(step, [0.12, 0.2, 0.1])
        acceleration += shape_of_walk[:, None] * rng.normal(0, 0.03, (count, 3))
        swing = np.sin(phase + 0.8) + 0.4 * np.sin(2 * phase)
        swing += 0.5 * np.sin(phase / 2) * (1 + 0.3 * _slow_noise(rng, count, rate, 0.5))
        signal += depth * motion_gain * shape_of_walk * swing
        moved.append((15, seconds - 10, 1))
    for start, end in spans.take(motion, 2, 9):
        size, direction, strength = window(start, end), rng.normal(0, 1, 3), rng.uniform(0.06, 0.45)
        path = np.stack([_slow_noise(rng, count, rate, rng.uniform(1.2, 5)) for _ in range(3)], 1) * size[:, None]
        if rng.random() < 0.4:  # a rhythm, as of shaking
            shake = np.sin(2 * np.pi * rng.uniform(0.8, 2.5) * t)
            path += size[:, None] * np.outer(shake, rng.normal(0, 1.4, 3))
        acceleration += strength * path
        gain = rng.uniform(0.5, 1.5) * motion_gain
        signal += depth * gain * ((path @ direction) / 1.8 + 0.7 * _slow_noise(rng, count, rate, 0.8) * size)
        moved.append((start, end, 1))
    for start, end in spans.take(hidden, 2, 6):  # the finger presses
        size = window(start, end)
        gain = rng.uniform(0.7, 1.5)
        signal += depth * motion_gain * gain * _slow_noise(rng, count, rate, 2.2) * size
        moved.append((start, end, 2))
    for start, end in spans.take(harmless, 4, 10):  # the hand turns
        path = np.stack([_slow_noise(rng, count, rate, 2) for _ in range(3)], 1)
        acceleration += 0.25 * path * window(start, end)[:, None]
    for start, end in spans.take(pressure, 1, 1):  # the level steps
        jump = depth * rng.uniform(3, 8) * rng.choice([-1, 1])
        signal += jump / (1 + np.exp(np.clip(-(t - start) / 0.08, -50, 50)))
        moved.append((start - 0.4, start + 0.8, 2))
    light = base - signal
    if ceiling_drift:
        light = light + ceiling_drift * np.clip(np.sin(2 * np.pi * t / (seconds * 0.5)), 0, 1)
    light = light + noise * rng.normal(0, 1, count)
    for start, end in spans.take(contact, 4, 15):
        size = np.clip(np.minimum((t - start) / 0.15, (end - t) / 0.15), 0, 1)
        table = 350 + 40 * _slow_noise(rng, count, rate, 0.7) + 12 * rng.normal(0, 1, count)
        light = np.where((t >= start) & (t <= end), light * (1 - size) + table * size, light)
        blind.append((start - 0.1, end + 0.3, NO_CONTACT))
    if ceiling is not None:
        blind += _clipped(t, light >= ceiling, rate)
        light = np.minimum(light, ceiling)
    if flip:
        light = 2 * base - light
    ppg = np.clip(np.round(light), 1, 65535).astype(int)
    if zeros:
        ppg[rng.random(count) < zeros] = 0
    kept = np.ones(count, bool)
    if loss:
        kept &= rng.random(count) >= loss
    for _ in range(burst):
        first = rng.integers(int(12 * rate), count - int(5 * rate))
        length = int(rng.uniform(0.5, 4) * rate)
        kept[first:first + length] = False
        blind.append((t[first] - 0.05, t[min(first + length, count - 1)] + 0.05, LOST))
    ring_clock = 1 + ppm * 1e-6
    arrival = _arrivals(rng, t * ring_clock, interval, jitter, retry)
    truth = beats * ring_clock
    inside = (truth > 0) & (truth + 0.25 < t[-1] * ring_clock)
    truth, marks = truth[inside], marks[inside]
    arrival, truth, moved, blind = _set_clock(steps, t, arrival, truth, moved, blind)
    counter = np.arange(count) % 256 if counted else np.full(count, -1)
    return Record(
        name, category, float(rate), arrival[kept], ppg[kept], acceleration[kept], counter[kept], truth,
        (marks > 0).astype(int), np.array(blind).reshape(-1, 3), np.array(moved).reshape(-1, 3),
        np.array(steps).reshape(-1, 2))


def _level(rng, count, rate, seconds):
    """A level that wanders about and comes back."""
    knots = np.zeros(int(seconds / 2) + 3)
    for index in range(1, len(knots)):
        knots[index] = 0.93 * knots[index - 1] + rng.normal(0, 0.37)
    margin = int(4 * rate)
    kernel = np.hanning(margin * 2 + 1)
    path = np.interp(np.arange(-4 * rate, count + 4 * rate) / rate / 2, np.arange(len(knots)), knots)
    return np.convolve(path, kernel / kernel.sum(), "same")[margin:margin + count]


def _clipped(t, is_clipped, rate):
    """Where more than half of the second around is clipped."""
    half = int(rate * 0.5)
    share = np.convolve(is_clipped, np.ones(2 * half + 1) / (2 * half + 1), "same") > 0.5
    edges = np.flatnonzero(np.diff(np.r_[0, share.astype(int), 0]))
    return [(t[first], t[min(last, len(t)) - 1], CLIPPED) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def _arrivals(rng, t, interval, jitter, retry):
    """The event that carries each sample; one that is lost comes later, in order."""
    count = len(t)
    late = np.abs(rng.normal(0, jitter, count)) if jitter else 0
    if not interval:
        return np.maximum.accumulate(t + late)
    event = np.ceil((t + 0.004 + late) / interval)
    if retry:
        event = event + np.where(rng.random(count) < retry, rng.integers(1, 7, count), 0)
    arrival = np.maximum.accumulate(event) * interval + np.abs(rng.normal(0, 0.0006, count))
    return np.maximum.accumulate(arrival)


def _set_clock(steps, t, arrival, beats, moved, blind):
    moved, blind = [list(span) for span in moved], [list(span) for span in blind]
    by_sample, by_beat = np.zeros(len(t)), np.zeros(len(beats))
    for when, step in steps:
        by_sample += np.where(t >= when, step, 0.0)
        by_beat += np.where(beats + 0.1 >= when, step, 0.0)
        for span in moved + blind:
            for edge in (0, 1):
                span[edge] += step if span[edge] >= when else 0
    return arrival + by_sample, beats + by_beat, moved, blind


def suite(seed: int) -> list[Record]:
    """All situations, with hearts and hands that are drawn by the seed."""
    rng = np.random.default_rng(seed)
    records = []

    def add(name, category, seed=None, link=True, **parameters):
        seed = int(rng.integers(1 << 30)) if seed is None else seed
        records.append(record(name, category, seed, **({**LINK, **parameters} if link else parameters)))

    people = [
        {"heart": rng.uniform(54, 62), "shape": "young", "sinus": 0.05, "slow": 0.03},
        {"heart": rng.uniform(72, 84), "shape": "stiff", "sinus": 0.012, "slow": 0.012, "wander": 0.012},
    ]
    for number, person in enumerate(people):
        own = int(rng.integers(1 << 30))
        for rate in (12.5, 25, 50, 100):
            add(f"clean{number}_{rate:g}", f"clean {rate:g}", own, False, rate=rate, seconds=300, **person)

    def draw(*situations):
        """In the order of the sequence: the seed of each record is drawn before its heart."""
        for name, category, heart, parameters in situations:
            own = int(rng.integers(1 << 30))
            drawn = {"heart": rng.uniform(*heart)} if heart else {}
            add(name, category, own, **{**drawn, **parameters})

    rest = (58, 75)
    for rate in (12.5, 25, 50):
        draw((f"link_{rate:g}", "link", rest, {"rate": rate, "seconds": 180}))
    awake = (60, 80)
    draw(
        ("link_loss25", "link", rest, {"seconds": 180, "loss": 0.01, "burst": 4, "zeros": 0.01}),
        ("link_loss50u", "link", rest, {"rate": 50, "seconds": 180, "loss": 0.02, "burst": 4, "counted": False}),
        ("link_slow25", "link", rest, {"interval": 0.05, "retry": 0.04}),
        ("steps25", "steps", awake, {"seconds": 180, "steps": ((50.3, 2.7), (100.1, -1.3), (140.7, 0.45))}),
        ("weak25", "weak", awake, {"seconds": 180, "depth": 34, "breathing": 0.8, "drift": 3}),
        ("weak50", "weak", awake, {"rate": 50, "depth": 24, "noise": 10, "breathing": 0.8, "drift": 3}),
        ("ectopic25", "ectopic", (62, 78), {"seconds": 240, "extra": 0.08}),
        ("af25", "ectopic", (80, 100), {"seconds": 180, "fibrillation": 0.2}),
        ("fast25", "rate", None, {
            "seconds": 180, "heart": 150, "ramp": (175, 160, 105), "sinus": 0.004, "slow": 0.004, "wander": 0.006,
            "depth": 150}),
        ("slow25", "rate", (39, 44), {"seconds": 180, "shape": "young", "sinus": 0.05}),
    )
    for number, rate in enumerate((25, 25, 50)):
        own = int(rng.integers(1 << 30))
        heart = rng.uniform(60, 90)
        add(
            f"motion{number}_{rate}", "motion", own, rate=rate, seconds=180, heart=heart, motion=9,
            motion_gain=rng.uniform(1.5, 4), hidden=2, harmless=2, pressure=2, shape=["mid", "young", "stiff"][number])
    for rate, gain in ((25, 1.0), (50, 2.0)):
        own = int(rng.integers(1 << 30))
        heart = rng.uniform(85, 110)
        add(f"walk{rate}", "walk", own, rate=rate, heart=heart, cadence=rng.uniform(1.6, 2.0), motion_gain=gain)
    draw(
        ("contact25", "contact", awake, {"seconds": 180, "contact": 5}),
        ("clip25", "contact", awake, {"seconds": 180, "base": 11700, "ceiling": 12200, "ceiling_drift": 900}),
        ("flip25", "polarity", awake, {"flip": True, "shape": "young"}),
        ("table25", "nothing", None, {"depth": 0.0001, "base": 420, "noise": 6, "dead": True}),
        ("worn_dead25", "nothing", None, {
            "depth": 60, "drift": 3, "breathing": 1.5, "noise": 25, "dead": True, "motion": 6, "motion_gain": 4}),
        ("stock1", "1 Hz", awake, {"rate": 1, "seconds": 600, "counted": False}),
    )
    for item in records:
        if item.category == "nothing":
            item.beats, item.extra = np.zeros(0), np.zeros(0, int)
    return records


def links() -> list[Record]:
    """The same hearts and light over links with longer events, of which some repeat packets, with a counter and without."""
    shapes = ("young", "mid", "stiff")
    return [
        record(
            f"{number}_{event}_{kind}", f"events of {event} ms, {kind}", 41 + number, seconds=180, heart=66,
            shape=shapes[number % 3], **{**LINK, "interval": event / 1000, "counted": kind == "counted"})
        for event in (15, 30, 50) for kind in ("counted", "not counted") for number in range(6)]
