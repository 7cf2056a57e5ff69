"""Detectors of others, as their users run them: they get an even grid, with the pulse upwards. Each says times, or times and
which of them are good."""

import warnings

import numpy as np

warnings.filterwarnings("ignore")


def _grid(record):
    """The light on an even grid at the record's rate: these detectors know no times."""
    has_value = record.ppg > 0
    t, x = record.t[has_value], -record.ppg[has_value].astype(float)
    is_later = np.r_[True, t[1:] > np.maximum.accumulate(t)[:-1]]
    t, x = t[is_later], x[is_later]
    grid = np.arange(t[0], t[-1], 1 / record.rate)
    return grid, np.interp(grid, t, x)


def heartpy(record):
    """HeartPy (van Gent 2019), with its filter and its rejection of outliers."""
    import heartpy as hp

    grid, x = _grid(record)
    try:
        filtered = hp.filter_signal(x, [0.7, 3.5], sample_rate=record.rate, order=3, filtertype="bandpass")
        data, _ = hp.process(filtered, sample_rate=record.rate)
    except Exception:  # it gives up on light without a pulse
        return np.zeros(0)
    peaks = np.asarray(data["peaklist"], int)
    return grid[peaks], np.asarray(data["binary_peaklist"], float)[:len(peaks)]


def msptdfast(record):
    """NeuroKit2's MSPTDfast (Charlton 2024), after its own cleaning."""
    import neurokit2 as nk
    from scipy.signal import butter, sosfiltfilt

    if record.rate < 5:
        return np.zeros(0)
    # It wants a whole number, and 12.5 Hz is below its filter.
    rate = 25 if record.rate < 25 else int(record.rate)
    t, x = _grid(record)
    grid = np.arange(t[0], t[-1], 1 / rate)
    x = np.interp(grid, t, x)
    try:
        clean = nk.ppg_clean(x, sampling_rate=rate, method="elgendi")
    except Exception:
        clean = sosfiltfilt(butter(3, [0.5, min(8, 0.45 * rate)], "band", fs=rate, output="sos"), x)
    try:
        peaks = nk.ppg_findpeaks(clean, sampling_rate=rate, method="charlton")["PPG_Peaks"]
    except Exception:
        return np.zeros(0)
    return grid[np.asarray(peaks, int)]
