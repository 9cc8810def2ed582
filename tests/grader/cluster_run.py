"""Grade a course on a cluster of two local nodes, one of which is lost at the first outcome.

Started as `python -m tests.grader.cluster_run ROOT LEVEL`, in a process that finds Ray. Prints one
line of JSON: what the report says, and how many nodes were alive at the beginning and at the end.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from grader import batch
from grader.batch import autograde, settings_of
from grader.course import Course
from tests.grader.fake_lab import ASSIGNMENT


def main(root: Path, level: str) -> None:
    ray: Any = importlib.import_module("ray")
    head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80 << 20}
    cluster = importlib.import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args=head)
    other = cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
    alive = []
    record = batch.record

    def lose_a_node(*arguments: Any) -> None:
        record(*arguments)
        if not alive:
            alive.append(sum(node["Alive"] for node in ray.nodes()))
            cluster.remove_node(other, allow_graceful=False)

    batch.record = lose_a_node
    course = Course(root)
    report = autograde(course, [ASSIGNMENT], None, settings_of(course, level), cluster=cluster.address)
    again = autograde(
        course, [ASSIGNMENT], None, settings_of(course, level), force=True, cluster=cluster.address
    )
    print(
        json.dumps(
            {
                "graded": report.graded,
                "failed": report.failed,
                "ungradable": report.ungradable,
                "nodes": alive,
                "again": [again.graded, again.cached],
            }
        )
    )
    cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
