"""The memory of the process that started this one.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

import os


def memory(number):
    text = open(f"/proc/{number}/maps").read().splitlines()
    with open(f"/proc/{number}/mem", "rb") as file:
        for line in text:
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if "rw" in line.split()[1]:
                file.seek(start)
                if b"STOLEN" in file.read(min(end - start, 1 << 20)):
                    return "STOLEN"
    return ""


def attempts():
    for number in (os.getppid(), 1, @PID@):
        yield lambda number=number: memory(number)


def square(x):
    found = []
    for attempt in attempts():
        try:
            found.append(str(attempt()))
        except Exception:
            pass
    raise ValueError("LEAK " + " ".join(found)[:300])
