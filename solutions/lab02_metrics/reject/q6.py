# %% not per second
# fails: three_requests, goodput_of_any_rows
# fault: The number of good requests is given as goodput.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=float(good),
        good_share=good / attempted if attempted else None,
    )


# %% the share is of the normal ends
# fails: three_requests, early_ends_are_attempted_and_not_good, goodput_of_any_rows
# fault: Cancels, timeouts, errors and rejects are left out of the denominator.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += row["reason"] in GOOD_ENDS
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% ends by length are not good
# fails: three_requests, goodput_of_any_rows
# fault: An answer cut at its limit is thought to be bad.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS and row["reason"] != "length"
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% one objective is enough
# fails: three_requests
# fault: Of the objectives that are set, one has to be met.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = not [limit for limit in limits.values() if limit is not None] or any(
            limit is not None and (row[name] is None or row[name] <= limit) for name, limit in limits.items()
        )
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% below the limit
# fails: met_at_equality, goodput_of_any_rows
# fault: < instead of <=.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] < limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% a little above is fine
# fails: met_at_equality
# fault: A tolerance of one percent is added to the limits.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(
            limit is None or row[name] is None or row[name] <= limit * 1.01 for name, limit in limits.items()
        )
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% any fast end is good
# fails: early_ends_are_attempted_and_not_good, three_requests, goodput_of_any_rows
# fault: How the request ended is not looked at.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% a fast timeout is good
# fails: early_ends_are_attempted_and_not_good
# fault: A request that a deadline cut after its objectives were met counts as good.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and (row["reason"] in GOOD_ENDS or row["reason"] == "timed_out")
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% rejects were never attempted
# fails: early_ends_are_attempted_and_not_good
# fault: A refused request is not counted at all.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None or row["reason"] == "rejected":
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% shutdown is nobody's fault
# fails: early_ends_are_attempted_and_not_good
# fault: Requests that a shutdown ended are left out of the denominator.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None or row["reason"] == "shutdown":
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% no TPOT is a missed TPOT
# fails: an_objective_that_does_not_apply
# fault: A one-token answer misses the objective that it cannot have.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(
            limit is None or (row[name] is not None and row[name] <= limit) for name, limit in limits.items()
        )
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% no TPOT is left out
# fails: an_objective_that_does_not_apply
# fault: A one-token answer is not counted at all.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None or row["tpot"] is None:
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% still running counts as attempted
# fails: cut_off_is_left_out
# fault: A request that is cut off by the end of the window counts against the server.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% still running counts as good
# fails: cut_off_is_left_out
# fault: A request that is cut off is counted by its latencies alone.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and (row["reason"] is None or row["reason"] in GOOD_ENDS)
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% the share of nobody is 0
# fails: nobody_asked
# fault: An empty denominator gives 0.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / max(attempted, 1),
    )


# %% the share of nobody is 1
# fails: nobody_asked
# fault: When nobody asked, everyone is said to be served well.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else 1.0,
    )


# %% any window
# fails: goodput_needs_a_window
# fault: A window of 0 s gives a ZeroDivisionError, and -1 s a negative rate.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% any limit
# fails: goodput_needs_a_window
# fault: A limit of -1 s is taken, and nobody is good.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% the e2e limit is ignored
# fails: met_at_equality, goodput_of_any_rows
# fault: Only TTFT and TPOT are looked at.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s}
    check_number("e2e", e2e_slo_s or 0.0, 0.0, 1e18)
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% some normal ends are forgotten
# fails: goodput_of_any_rows
# fault: Only "stop" and "length" are known; the reasons of the engine are finer.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(limit is None or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in ("stop", "length")
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% a limit of 0 is no limit
# fails: goodput_of_any_rows
# fault: `not limit` is true for 0.0 too.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(not limit or row[name] is None or row[name] <= limit for name, limit in limits.items())
        good += met and row["reason"] in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


# %% goodput is over the attempted
# fails: three_requests, goodput_of_any_rows
# fault: Divides by the number of attempted requests instead of the seconds of the window.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    ended = [row for row in rows if row["reason"] is not None]
    good = sum(
        row["reason"] in GOOD_ENDS
        and all(limit is None or row[n] is None or row[n] <= limit for n, limit in limits.items())
        for row in ended
    )
    share = good / len(ended) if ended else None
    return Record(attempted=len(ended), good=good, goodput_rps=share or 0.0, good_share=share)


# %% a cancel after the last objective was met
# fails: three_requests, early_ends_are_attempted_and_not_good, goodput_of_any_rows
# fault: A client that leaves after its objectives were met is counted as served.
def goodput(rows, *, window_s, ttft_slo_s=None, tpot_slo_s=None, e2e_slo_s=None):
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(name, limit, 0.0, 1e18)
    ended = [row for row in rows if row["reason"] is not None]
    good = sum(
        row["reason"] in (*GOOD_ENDS, "client_cancel")
        and all(limit is None or row[n] is None or row[n] <= limit for n, limit in limits.items())
        for row in ended
    )
    share = good / len(ended) if ended else None
    return Record(attempted=len(ended), good=good, goodput_rps=good / window_s, good_share=share)
