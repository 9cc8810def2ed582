# %% one pass over the rows
def summarize(rows, window_s=None):
    if window_s is not None and window_s <= 0:
        raise ValueError("the window must be above 0 s")
    counts, abnormal, ttft, tpot = {}, [], [], []
    for row in rows:
        counts[row["status"]] = counts.get(row["status"], 0) + 1
        if row["ttft"] is not None:
            ttft.append(row["ttft"])
        if row["tpot"] is not None:
            tpot.append(row["tpot"])
        if row["status"] != "completed":
            abnormal.append({key: row[key] for key in ("status", "stage", "streamed_tokens")})
    total, done = len(rows), counts.get("completed", 0)
    return {
        "total_requests": total,
        "completed_requests": done,
        "success_rate": done / total if total else None,
        "ttft_sample_count": len(ttft),
        "mean_ttft": sum(ttft) / len(ttft) if ttft else None,
        "tpot_sample_count": len(tpot),
        "mean_tpot": sum(tpot) / len(tpot) if tpot else None,
        "by_status": counts,
        "throughput_rps": total / window_s if window_s else None,
        "abnormal": abnormal,
    }


# %% small helpers, no Counter
import statistics


def known(rows, name):
    return [row[name] for row in rows if row[name] is not None]


def share(part, whole):
    return None if not whole else part / whole


def summarize(rows, window_s=None):
    if window_s is not None:
        check_number("window_s", window_s, 0, 10**9, low_open=True)
    done = [row for row in rows if row["status"] == "completed"]
    others = [row for row in rows if row not in done]
    first, gaps = known(rows, "ttft"), known(rows, "tpot")
    return dict(
        total_requests=len(rows),
        completed_requests=len(done),
        success_rate=share(len(done), len(rows)),
        ttft_sample_count=len(first),
        mean_ttft=statistics.fmean(first) if first else None,
        tpot_sample_count=len(gaps),
        mean_tpot=statistics.fmean(gaps) if gaps else None,
        by_status={name: sum(row["status"] == name for row in rows) for name in {r["status"] for r in rows}},
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in others
        ],
    )


# %% built field by field
def summarize(rows, window_s=None):
    result = {"throughput_rps": None}
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e12, low_open=True)
        result["throughput_rps"] = len(rows) / window_s
    statuses = [row["status"] for row in rows]
    result["by_status"] = {status: statuses.count(status) for status in dict.fromkeys(statuses)}
    result["total_requests"] = len(statuses)
    result["completed_requests"] = statuses.count("completed")
    result["success_rate"] = None
    if statuses:
        result["success_rate"] = statuses.count("completed") / len(statuses)
    for name in ("ttft", "tpot"):
        average, count = mean([row[name] for row in rows])
        result["mean_" + name] = average
        result[name + "_sample_count"] = count
    result["abnormal"] = []
    for row in filter(lambda row: row["status"] != "completed", rows):
        result["abnormal"].append(
            {key: row[key] for key in row if key in ("status", "stage", "streamed_tokens")}
        )
    return result


# %% the Counter itself
def summarize(rows, window_s=None):
    if window_s is not None and not window_s > 0:
        raise ValueError(window_s)
    by_status = Counter(r["status"] for r in rows)
    (ttft, n_ttft), (tpot, n_tpot) = (mean(r[k] for r in rows) for k in ("ttft", "tpot"))
    total = sum(by_status.values())
    return Record(
        total_requests=total,
        completed_requests=by_status["completed"],
        success_rate=None if total == 0 else by_status["completed"] / total,
        ttft_sample_count=n_ttft,
        mean_ttft=ttft,
        tpot_sample_count=n_tpot,
        mean_tpot=tpot,
        by_status=by_status,
        throughput_rps=window_s and total / window_s,
        abnormal=[
            {k: r[k] for k in ("status", "stage", "streamed_tokens")}
            for r in rows
            if r["status"] != "completed"
        ],
    )
