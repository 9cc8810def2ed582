# %% one pass with a plain dict
def report_of(steps):
    report = dict.fromkeys(["arrive", "admit", "input_ready", "first_token"])
    report["token_times"] = []
    for event, at, before, after in steps:
        if event in report and report[event] is None:
            report[event] = at
        if "token" in event:
            report["token_times"].append(at)
        report.update(stage=before, status=after, end=at)
    return report


# %% one search for each field
def first_time(steps, name):
    return next((at for event, at, _, _ in steps if event == name), None)


def report_of(steps):
    last = list(steps)[-1]
    return {
        "status": last[3],
        "stage": last[2],
        "end": last[1],
        "token_times": tuple(step[1] for step in steps if step[3] == "decode"),
        **{name: first_time(steps, name) for name in ("arrive", "admit", "input_ready", "first_token")},
    }
