#!/usr/bin/env python3
"""Writes ranges.json: what every range code means on awkward days, and where days of zones begin.

Nothing here is shared with the server: days come from Python's datetime, months from its calendar,
zones from its zoneinfo, and the first instant of a day is found by looking at one minute after the
other.

    python3 ranges.py              writes ranges.json beside this file
"""

import calendar
import json
import re
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

DAYS = """
2024-02-29 2024-02-28 2024-03-01 2024-01-29 2024-01-31 2024-12-30 2024-12-31
2023-02-28 2023-03-01 2023-01-29 2023-01-30 2023-01-31 2023-03-29 2023-03-31 2023-05-31
2023-08-31 2023-10-31 2023-12-31 2023-01-01 2017-01-01 2022-01-01
2023-07-01 2023-07-02 2023-09-30 2023-10-01 2023-04-01 2023-06-30
2024-03-09 2024-03-10 2024-11-02 2024-11-03
2000-01-01 2000-02-29 1999-12-31 1900-02-28 2100-02-28 2100-03-01
0001-02-01 0001-02-28 9999-12-31 9999-11-30
""".split()

PLAIN = """
today yesterday ytd last-week last-month last-quarter max 1mm 5dm
1d 5d 31d 366d 99999d 1w 2w 53w 1m 2m 3m 6m 11m 12m 13m 1200m 1q 3q 5q 1y 2y 4y 100y 99999y
2020 2023 0001 9999 q12024 q22023 q32023 q42023 q49999 h12024 h22023 h10001 h29999
""".split()

FORWARD = """
tomorrow this-week this-month this-quarter next-week next-month next-quarter
1mm 5dm 1d 5d 31d 366d 99999d 1w 2w 53w 1m 2m 3m 6m 11m 12m 13m 1200m 1q 3q 5q 1y 4y 100y 99999y
today ytd last-month 2020 q12024 max
""".split()


def moved(day, days):
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min


def month_of(day, months):
    """First day of another month; None before the calendar or after it, by its side."""
    at = day.year * 12 + day.month - 1 + months
    if at < 12:
        return date.min, "before"
    if at >= 120000:
        return date.max, "after"
    return date(at // 12, at % 12 + 1, 1), ""


def months_moved(day, months):
    first, beyond = month_of(day, months)
    if beyond:
        return first
    return first.replace(day=min(day.day, calendar.monthrange(first.year, first.month)[1]))


def end_of_month(day):
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def whole_months(first, months):
    last, beyond = month_of(first, months - 1)
    return first, date.max if beyond else end_of_month(last)


def week(day, weeks):
    sunday = moved(day, -(day.isoweekday() % 7) + 7 * weeks)
    return sunday, moved(sunday, 6)


def quarter(day, quarters):
    first = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    begins, beyond = month_of(first, 3 * quarters)
    return (begins, begins) if beyond == "after" else whole_months(begins, 3)


def month(day, months):
    begins, beyond = month_of(day.replace(day=1), months)
    return (begins, begins) if beyond == "after" else whole_months(begins, 1)


def counted(code, day, forward):
    found = re.fullmatch(r"(\d+)(mm|dm|[dwmqy])", code)
    if not found:
        return None
    count = int(found[1]) * (1 if forward else -1)
    unit = found[2][0]
    steps = {"m": 1, "q": 3, "y": 12}
    if unit in steps:
        far = months_moved(day, count * steps[unit])
    else:
        far = moved(day, count * (7 if unit == "w" else 1))
    return (day, far) if forward else (far, day)


def part_of_year(code):
    found = re.fullmatch(r"(?:([qh])(\d))?(\d{4})", code)
    if not found:
        return None
    length = {None: 12, "q": 3, "h": 6}[found[1]]
    nth = int(found[2] or 1)
    return whole_months(date(int(found[3]), (nth - 1) * length + 1, 1), length)


def meaning(code, day, forward):
    names = {
        "today": lambda: (day, day),
        "yesterday": lambda: (moved(day, -1), moved(day, -1)),
        "tomorrow": lambda: (moved(day, 1), moved(day, 1)),
        "ytd": lambda: (day.replace(month=1, day=1), day),
        "last-week": lambda: week(day, -1),
        "this-week": lambda: week(day, 0),
        "next-week": lambda: week(day, 1),
        "last-month": lambda: month(day, -1),
        "this-month": lambda: month(day, 0),
        "next-month": lambda: month(day, 1),
        "last-quarter": lambda: quarter(day, -1),
        "this-quarter": lambda: quarter(day, 0),
        "next-quarter": lambda: quarter(day, 1),
    }
    if code == "max":
        return "all"
    both = names[code]() if code in names else counted(code, day, forward) or part_of_year(code)
    return " ".join(item.isoformat() for item in both)


ZONE_DAYS = {
    "America/New_York": """2024-02-29 2024-03-09 2024-03-10 2024-03-11 2024-11-02 2024-11-03
        2024-11-04 2023-12-31 2024-01-01 2006-04-02 2006-10-29 2100-02-28""".split(),
    "UTC": ["2024-02-29", "2024-12-31"],
    "Asia/Tokyo": ["2024-02-29", "2024-12-31"],
    "Asia/Kolkata": ["2024-02-29"],
    # Midnight is left out there.
    "America/Sao_Paulo": ["2018-11-03", "2018-11-04", "2018-11-05", "2018-02-17", "2018-02-18"],
    "Africa/Cairo": ["2024-04-25", "2024-04-26", "2024-04-27", "2024-10-31", "2024-11-01"],
    # And happens twice.
    "America/Havana": ["2023-11-04", "2023-11-05", "2023-11-06", "2024-03-10"],
    "Pacific/Apia": ["2011-12-29", "2011-12-31"],
    "Europe/London": ["2024-03-31", "2024-10-27"],
    "Australia/Lord_Howe": ["2024-04-07", "2024-10-06"],
}


def first_instant(day, zone):
    at = datetime(day.year, day.month, day.day, tzinfo=timezone.utc) - timedelta(hours=16)
    while at.astimezone(zone).date() < day:
        at += timedelta(minutes=1)
    return int(at.timestamp() * 1000)


def zone_day(name, text):
    zone, day = ZoneInfo(name), date.fromisoformat(text)
    begin = first_instant(day, zone)
    return [name, text, begin, first_instant(day + timedelta(days=1), zone)]


def main():
    ranges = {}
    for text in DAYS:
        day = date.fromisoformat(text)
        ranges[text] = {
            "plain": {code: meaning(code, day, False) for code in PLAIN},
            "forward": {code: meaning(code, day, True) for code in FORWARD},
        }
    zones = [zone_day(name, text) for name, texts in ZONE_DAYS.items() for text in texts]
    path = Path(__file__).with_suffix(".json")
    lines = [f'"{text}": {json.dumps(item)}' for text, item in ranges.items()]
    parts = ['{"ranges": {', ",\n".join(lines), '}, "zones": [']
    parts += [",\n".join(json.dumps(item) for item in zones), "]}", ""]
    path.write_text("\n".join(parts))


main()
