# %% two lists
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0, 10**9, low_open=True)
    for limit in (ttft_slo_s, tpot_slo_s, e2e_slo_s):
        if limit is not None and limit < 0:
            raise ValueError("a limit below 0 s")
    attempted = [row for row in rows if row["reason"] is not None]
    good = [
        row
        for row in attempted
        if row["reason"] in GOOD_ENDS
        and within(row["ttft"], ttft_slo_s)
        and within(row["tpot"], tpot_slo_s)
        and within(row["e2e"], e2e_slo_s)
    ]
    return {
        "attempted": len(attempted),
        "good": len(good),
        "goodput_rps": len(good) / window_s,
        "good_share": len(good) / len(attempted) if attempted else None,
    }


def within(value, limit):
    return value is None or limit is None or not value > limit


# %% missing limits are infinite, missing values minus infinite
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    limits = [float("inf") if limit is None else limit for limit in (ttft_slo_s, tpot_slo_s, e2e_slo_s)]
    if window_s <= 0 or min(limits) < 0:
        raise ValueError("window and limits must be positive")
    attempted = good = 0
    for row in rows:
        if row["reason"] is not None:
            attempted += 1
            values = [-1.0 if row[name] is None else row[name] for name in ("ttft", "tpot", "e2e")]
            if row["reason"] in GOOD_ENDS and all(v <= limit for v, limit in zip(values, limits)):
                good += 1
    share = None
    if attempted:
        share = good / attempted
    return dict(attempted=attempted, good=good, goodput_rps=good / window_s, good_share=share)


# %% counts those that miss something
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e9, low_open=True)
    slos = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    slos = {name: limit for name, limit in slos.items() if limit is not None}
    for name, limit in slos.items():
        check_number(name, limit, 0.0, 1e9)
    ended = [row for row in rows if row["reason"] is not None]
    missed = 0
    for row in ended:
        late = any(row[name] is not None and row[name] > limit for name, limit in slos.items())
        missed += 1 if late or row["reason"] not in GOOD_ENDS else 0
    good = len(ended) - missed
    return Record(
        attempted=len(ended),
        good=good,
        goodput_rps=good / window_s,
        good_share=good / len(ended) if len(ended) else None,
    )


# %% sums of flags
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    if not window_s > 0:
        raise ValueError("window_s")
    slos = (("ttft", ttft_slo_s), ("tpot", tpot_slo_s), ("e2e", e2e_slo_s))
    if any(limit is not None and limit < 0 for _, limit in slos):
        raise ValueError("a negative limit")

    def misses(row):
        return [n for n, limit in slos if limit is not None and row[n] is not None and row[n] > limit]

    rows = [row for row in rows if row["reason"] is not None]
    flags = [row["reason"] in GOOD_ENDS and not misses(row) for row in rows]
    share = sum(flags) / len(flags) if flags else None
    return {
        "attempted": len(flags),
        "good": sum(flags),
        "goodput_rps": sum(flags) / window_s,
        "good_share": share,
    }
