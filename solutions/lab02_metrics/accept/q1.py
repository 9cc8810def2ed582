# %% a table of spans and one loop
def durations(report):
    tokens = report["token_times"]
    spans = {
        "queue_wait": ("arrive", "admit"),
        "preprocessing": ("admit", "input_ready"),
        "prefill": ("input_ready", "first_token"),
        "ttft": ("arrive", "first_token"),
        "decode_time": ("first_token", "end"),
        "e2e": ("arrive", "end"),
    }
    result = {name: _gap(report[begin], report[end]) for name, (begin, end) in spans.items()}
    result["token_span"] = max(tokens) - min(tokens) if len(tokens) > 0 else None
    result["streamed_tokens"] = len(tokens)
    return result


# %% sums, where their parts are known
def durations(report):
    def between(begin, end):
        if report.get(begin) is None or report.get(end) is None:
            return None
        return report[end] - report[begin]

    parts = [
        between("arrive", "admit"),
        between("admit", "input_ready"),
        between("input_ready", "first_token"),
    ]
    ttft = None if None in parts else sum(parts)
    times = list(report["token_times"])
    span = None
    if times:
        span = 0.0
        for before, after in zip(times, times[1:]):
            span += after - before
    return dict(
        queue_wait=parts[0],
        preprocessing=parts[1],
        prefill=parts[2],
        ttft=ttft,
        decode_time=between("first_token", "end"),
        token_span=span,
        e2e=report["end"] - report["arrive"],
        streamed_tokens=len(times),
    )


# %% asks forgiveness
def minus(end, begin):
    try:
        return end - begin
    except TypeError:
        return None


def durations(report):
    r = report
    try:
        first, *_ = r["token_times"]
        span = r["token_times"][-1] - first
    except ValueError:
        span = None
    return {
        "e2e": minus(r["end"], r["arrive"]),
        "streamed_tokens": sum(1 for _ in r["token_times"]),
        "token_span": span,
        "decode_time": minus(r["end"], r["first_token"]),
        "ttft": minus(r["first_token"], r["arrive"]),
        "prefill": minus(r["first_token"], r["input_ready"]),
        "preprocessing": minus(r["input_ready"], r["admit"]),
        "queue_wait": minus(r["admit"], r["arrive"]),
    }


# %% reversed boundaries, early return for those without a token
def durations(report):
    result = dict.fromkeys(["queue_wait", "preprocessing", "prefill", "ttft", "decode_time", "token_span"])
    result["e2e"] = report["end"] - report["arrive"]
    result["streamed_tokens"] = len(report["token_times"])
    if report["admit"] is not None:
        result["queue_wait"] = report["admit"] - report["arrive"]
    if report["input_ready"] is not None:
        result["preprocessing"] = report["input_ready"] - report["admit"]
    if report["first_token"] is None:
        return result
    result["prefill"] = report["first_token"] - report["input_ready"]
    result["ttft"] = report["first_token"] - report["arrive"]
    result["decode_time"] = report["end"] - report["first_token"]
    result["token_span"] = report["token_times"][-1] - report["first_token"]
    return result


# %% the first token from the token times, helper with a default
def durations(report):
    times = report["token_times"]
    first, last = (times[0], times[-1]) if times else (None, None)
    boundaries = [report["arrive"], report["admit"], report["input_ready"], first]
    names = ["queue_wait", "preprocessing", "prefill"]
    result = {name: _gap(a, b) for name, a, b in zip(names, boundaries, boundaries[1:])}
    result.update(
        ttft=_gap(report["arrive"], first),
        decode_time=_gap(first, report["end"]),
        token_span=_gap(first, last),
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(times),
    )
    return result
