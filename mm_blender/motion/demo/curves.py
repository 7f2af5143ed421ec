# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves over time from which the demo motion is drawn: easing, smoothing, swinging and settling."""

import numpy as np


def ease(x):
    """0 to 1 while x goes from 0 to 1, with no velocity or acceleration at either end."""
    x = np.clip(x, 0, 1)
    return x * x * x * (x * (x * 6 - 15) + 10)


def travel(x, rise, fall):
    """0 to 1 while x goes from 0 to 1: speeds up, goes on steadily, slows down; rise and fall are parts of the way."""
    x = np.clip(x, 0, 1)
    top = 1 / (1 - (rise + fall) / 2)
    up = rise * _ease_area(np.minimum(x / rise, 1))
    steady = np.clip(x - rise, 0, 1 - rise - fall)
    down = np.clip(x - (1 - fall), 0, fall)
    return top * (up + steady + down - fall * _ease_area(down / fall))


def bump(x, peak):
    """0 to 1 at the peak and back to 0 while x goes from 0 to 1, soft at both ends."""
    x = np.clip(x, 0, 1)
    a, b = 6 * peak, 6 * (1 - peak)
    a, b = np.maximum(a, 2.5), np.maximum(b, 2.5)
    top = a / (a + b)
    return x**a * (1 - x) ** b / (top**a * (1 - top) ** b)


def between(x, low, high):
    """0 below low, 1 above high, eased in between."""
    return ease((x - low) / (high - low))


def above_zero(x, soft):
    """x where positive, 0 where negative, rounded off by soft; never below either."""
    return (x + np.sqrt(x * x + soft * soft)) / 2


def smooth(x, seconds, rate):
    """x (F, …) smoothed by a Gaussian whose deviation is in seconds. It looks ahead as much as back."""
    deviation = max(seconds * rate, 1e-3)
    reach = max(1, int(np.ceil(3 * deviation)))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    return _convolve(x, weights / weights.sum(), reach)


def settle(x, frequency, damping, ahead, rate):
    """x (F, …) as followed by a damped spring that overshoots a little; starts `ahead` seconds early."""
    ring = 2 * np.pi * frequency * np.sqrt(1 - damping**2)
    fade = 2 * np.pi * frequency * damping
    reach = int(np.ceil(5 / fade * rate))
    lag = np.arange(-reach, reach + 1) / rate + ahead
    weights = np.where(lag > 0, np.exp(-fade * np.maximum(lag, 0)) * np.sin(ring * lag), 0)
    return _convolve(x, weights / weights.sum(), reach)


def over(x, seconds, rate):
    """A smooth curve that is never below x (F,)."""
    reach = max(1, round(seconds * rate))
    highest = np.lib.stride_tricks.sliding_window_view(np.pad(x, reach, mode="edge"), 2 * reach + 1).max(-1)
    weights = np.cos(np.linspace(-np.pi / 2, np.pi / 2, 2 * reach + 1)) ** 2
    return _convolve(highest, weights / weights.sum(), reach)


def keyed(keys, times):
    """Values at times: a number stays as it is, (time, value) keys are joined by straight lines."""
    if np.isscalar(keys):
        return np.full(len(times), float(keys))
    return np.interp(times, *np.transpose(keys))


def _convolve(x, weights, reach):
    """Convolution whose ends go on as straight as they came."""
    first, last = x[:1], x[-1:]
    padded = np.concatenate([2 * first - x[reach:0:-1], x, 2 * last - x[-2:-reach - 2:-1]])
    if x.ndim == 1:
        return np.convolve(padded, weights, mode="valid")
    return np.stack([np.convolve(column, weights, mode="valid") for column in padded.T], axis=-1)


def _ease_area(x):
    """The integral of ease from 0 to x."""
    return x**4 * (x * (x - 3) + 2.5)
