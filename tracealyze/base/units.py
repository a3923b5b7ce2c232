"""Times, sizes, shares and counts: the only place that formats and parses them. Internal times are integers of ns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log10

from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.base.heuristics import MIN_ERROR_SHARE, MIN_ROUGH_TICK_NS

US = 1_000
MS = 1_000_000
S = 1_000_000_000

_READ = {"ns": 1, "us": US, "µs": US, "ms": MS, "s": S, "min": 60 * S, "h": 3600 * S}
_SIZES = ("bytes", "KiB", "MiB", "GiB", "TiB")

NAMED: Mapping[str, tuple[str, int]] = (
    {"%": ("share", 1)}
    | {name: ("ns", factor) for name, factor in _READ.items()}
    | {name: ("bytes", 1024**power) for power, name in enumerate(_SIZES)}
    | {name: ("bytes", 1000**power) for power, name in enumerate(("B", "kB", "MB", "GB", "TB"))}
)
"""Units that users may write, with what they measure (ns, bytes, share) and their size in ns, bytes or hundredths."""

ONLY_IF = "if"
"""Used instead of a noun in a message: prints nothing, for parts that need the value to be present and true."""
ONLY_IF_EQUAL = "if="
"""The same with a value: `{errno:if=EMFILE}` is for parts about this value only."""

_MAX_DIGITS = 40
_LARGEST = 2**63
_TICKS_OF_ONE_PERCENT = 100
_DIGITS = 3
_DIGITS_OF_NS = 9
_DECIMALS_OF_SECONDS = 2
_COLUMN_UNITS = (("s", S), ("ms", MS), ("µs", US))
_COLUMN_DECIMALS = 3
_LARGEST_IN_A_COLUMN = 10_000
_MINUTES_FROM = 10 * 60 * S


def read_duration(text: str) -> int:
    """Nanoseconds from a text like `10ms`, `1.5 s` or `2min`."""
    number = text.strip().rstrip("abcdefghijklmnopqrstuvwxyzµ").rstrip()
    unit = text.strip()[len(number) :].strip()
    try:
        found = round(float(number) * _READ[unit])
    except KeyError:
        raise WrongUsage(f'"{text}" has no unit of time; write 10ms or 1.5s.{did_you_mean(unit, _READ)}') from None
    except (ValueError, OverflowError):
        raise WrongUsage(f'"{text}" is not a duration; write 10ms or 1.5s.') from None
    if not -_LARGEST < found < _LARGEST:
        raise WrongUsage(f'"{text}" is too long; the limit is {_LARGEST // _READ["h"]} h.')
    return found


def read_size(text: str) -> int:
    """Bytes from a text like `256M`, `1G` (powers of 1024, as `ls -h` prints them), `10 MB` or `64KiB`."""
    number = text.strip().rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ").rstrip()
    unit = text.strip()[len(number) :].strip()
    known = {name: size for name, (kind, size) in NAMED.items() if kind == "bytes"}
    known |= {letter: 1024**power for power, letter in enumerate("KMGT", start=1)} | {"": 1}
    try:
        found = round(float(number) * known[unit])
    except (KeyError, ValueError, OverflowError):
        raise WrongUsage(f'"{text}" is not a size; write 256M or 1G.') from None
    if not -_LARGEST < found < _LARGEST:
        raise WrongUsage(f'"{text}" is too large; the limit is {_LARGEST >> 40} TiB.')
    return found


def exactly(digits: str, unit: str = "") -> int | float | None:
    """The value in ns, bytes or as a fraction, an integer if possible; None if it does not fit in 64 bits."""
    from decimal import Decimal

    number = Decimal(digits)
    # An exponent of a million is short to write but slow to compute.
    if len(digits) > _MAX_DIGITS or abs(number.adjusted()) > _MAX_DIGITS:
        return None
    value = number * NAMED[unit][1] if unit else number
    value = value / 100 if unit == "%" else value
    if value != value.to_integral_value():
        return float(value)
    return int(value) if abs(value) < _LARGEST else None


def duration(ns: float, tick_ns: int = 1) -> str:
    """`9.74 s`, `32.8 ms`: three digits (hundredths for seconds), but never more than the clock had.

    `3 s ±1 s` for a coarse clock, which may be off by one tick."""
    text = _duration(ns, tick_ns)
    is_rough = tick_ns >= MIN_ROUGH_TICK_NS and 0 < abs(ns) < _TICKS_OF_ONE_PERCENT * tick_ns and text[0] != "<"
    return f"{text} ±{tick(tick_ns)}" if is_rough else text


def _duration(ns: float, tick_ns: int) -> str:
    magnitude = abs(ns)
    if magnitude == 0:
        return "0 s"
    if magnitude >= _MINUTES_FROM:
        minutes, seconds = divmod(round(ns / S), 60)
        return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {seconds} s"
    name, unit = _unit_of_time(magnitude, tick_ns)
    wanted = _decimals_for(magnitude / unit) if unit < S or magnitude < 10 * S else _DECIMALS_OF_SECONDS
    digits = min(wanted, _decimals_of_tick(unit, tick_ns))
    if round(magnitude / unit, digits) >= 1000 and unit < S:
        return _duration(float(round(ns / unit) * unit), tick_ns)
    shown = f"{ns / unit:.{digits}f}"
    return f"< {tick(tick_ns)}" if float(shown) == 0 else f"{shown} {name}"


def tick(tick_ns: int) -> str:
    """The timestamp resolution: `0.1 ms`, `1 µs`."""
    for name, unit in (("s", S), ("ms", MS), ("µs", US)):
        if tick_ns * 10 >= unit:
            return f"{tick_ns / unit:g} {name}"
    return f"{tick_ns} ns"


def min_duration(ns: int, tick_ns: int) -> str:
    """A minimum duration, but not below the timestamp resolution."""
    return _duration(ns, 1) if ns >= tick_ns else tick(tick_ns)


def _unit_of_column(values: Sequence[float], tick_ns: int) -> tuple[str, int]:
    """The unit of the largest value, or the next smaller unit if half of the values would be a few hundredths of it."""
    if not values:
        return "", S
    largest, median = values[-1], values[len(values) // 2]
    at = next((at for at, (_, unit) in enumerate(_COLUMN_UNITS) if largest >= unit), len(_COLUMN_UNITS) - 1)
    smaller = _COLUMN_UNITS[min(at + 1, len(_COLUMN_UNITS) - 1)][1]
    if median < _COLUMN_UNITS[at][1] / 20 and largest < _LARGEST_IN_A_COLUMN * smaller:
        at = min(at + 1, len(_COLUMN_UNITS) - 1)
    while at and tick_ns * 10 > _COLUMN_UNITS[at][1]:
        at -= 1
    return _COLUMN_UNITS[at]


def moment(ns: int, tick_ns: int = 1) -> str:
    """A point in time in seconds, with the digits of the clock: `3.7245`."""
    # No floating-point division: a float cannot represent nanoseconds since 1970.
    decimals = min(_decimals_of_tick(S, tick_ns), _DIGITS_OF_NS)
    step = 10 ** (_DIGITS_OF_NS - decimals)
    whole, rest = divmod((abs(ns) + step // 2) // step, 10**decimals)
    return f"{'-' if ns < 0 else ''}{whole}" + (f".{rest:0{decimals}}" if decimals else "")


def offset(ns: int, tick_ns: int = 1) -> str:
    """A time since the start of a capture, in the form that `--from` takes: `+3.7245`."""
    return f"{'' if ns < 0 else '+'}{moment(ns, tick_ns)}"


def _unit_of_time(magnitude: float, tick_ns: int) -> tuple[str, int]:
    for name, unit in (("s", S), ("ms", MS), ("µs", US)):
        if magnitude >= unit or tick_ns * 10 >= unit:
            return name, unit
    return "ns", 1


def _decimals_for(value: float) -> int:
    """The number of decimals that gives three digits, not counting a leading zero."""
    return max(0, _DIGITS - 1 - (int(log10(value)) if value >= 1 else -1))


def _decimals_of_tick(unit: int, tick_ns: int) -> int:
    return max(0, round(log10(unit / max(tick_ns, 1)) + 0.4999)) if unit > tick_ns else 0


def size(count: float) -> str:
    """`1.2 MiB`, `1 byte`."""
    if f"{count:.0f}" == "1":
        return "1 byte"
    for name in _SIZES:
        if abs(count) < 1024 or name == _SIZES[-1]:
            break
        count /= 1024
    return f"{count:.0f} {name}" if name == "bytes" or count >= 100 else f"{count:.1f} {name}"


def precision(tick_ns: int, window_ns: int) -> float:
    """The precision of shares of a window for a coarse clock, up to 1, or 0 if it is negligible.

    For finer clocks it is 0, because the tracing overhead is larger."""
    rough = tick_ns / window_ns if tick_ns >= MIN_ROUGH_TICK_NS and window_ns > 0 else 0.0
    return min(rough, 1.0) if rough >= MIN_ERROR_SHARE else 0.0


def share(fraction: float, precision: float = 0.0) -> str:
    """`85%`. Small shares are not rounded to 0, and shares below 1 are not rounded to 100%.

    `38% ±12%` if the precision is that low."""
    text = _share(fraction)
    return f"{text} ±{_share(precision)}" if precision >= MIN_ERROR_SHARE and 0 < fraction < 1 else text


def _share(fraction: float) -> str:
    percent = fraction * 100
    if 0 < percent < 0.1:
        return "< 0.1%"
    if 99.5 <= percent < 100:
        return "> 99%"
    return f"{percent:.1f}%" if 0 < percent < 0.95 else f"{percent:.0f}%"


def count(number: int) -> str:
    """`90,118`."""
    return f"{number:,}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 call`, `297 calls`."""
    return f"{count(number)} {noun if number == 1 else plural or noun + 's'}"


def durations(values: Iterable[float | None], tick_ns: int = 1) -> tuple[str, Callable[[float | None], str]]:
    """One unit for a column: its name, and a function that formats a value. Small values are not rounded to 0."""
    name, unit = _unit_of_column(sorted(abs(value) for value in values if value), tick_ns)
    digits = min(_COLUMN_DECIMALS, _decimals_of_tick(unit, tick_ns))
    least = 10.0**-digits

    def shown(value: float | None) -> str:
        if value is None:
            return ""
        if 0 < abs(value) / unit < least / 2:
            return f"<{least:.{digits}f}"
        return f"{value / unit:,.{digits}f}"

    return name, shown
