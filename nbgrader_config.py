"""The course as nbgrader sees it. Found by the commands and by JupyterLab at the course root.

Owns paths and the names of our grading steps; the steps themselves live in `grader/`. The
file can be copied to another course root, whose gradebook is then its own.
"""

import contextlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
DATA = ROOT / "grader"
if (DATA / "hooks.py").is_file() and str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
with contextlib.suppress(OSError):  # a read-only copy of the course can still be looked at
    (DATA / "exports").mkdir(exist_ok=True)

c = get_config()  # noqa: F821  (nbgrader runs this file with get_config defined)

c.CourseDirectory.course_id = "inference"
c.CourseDirectory.root = str(ROOT)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "labs"
c.CourseDirectory.submitted_directory = "grader/submitted"
c.CourseDirectory.autograded_directory = "grader/autograded"
c.CourseDirectory.feedback_directory = "grader/feedback"
c.CourseDirectory.solution_directory = "grader/solution"
c.CourseDirectory.source_with_tests_directory = "grader/source_with_tests"
c.CourseDirectory.db_url = f"sqlite:///{DATA / 'gradebook.db'}"
# Masters, checks, right and wrong answers stay in solutions/.
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints",
    "__pycache__",
    "*.py",
    "*.pyc",
    "*.toml",
    "accept",
    "reject",
    "mutants",
    "feedback",
]

# The stub below the numbered TODO lines of an answer cell.
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}

# `nbgrader autograde`: only answers are taken from a submission, and they run in a sandbox.
c.Autograde.pre_convert_hook = "grader.hooks.drop_links"
c.Autograde.exporter_class = "grader.hooks.GraftingExporter"
c.Autograde.sanitize_preprocessors = ["grader.hooks.Graft", "nbgrader.preprocessors.CheckCellMetadata"]
c.Autograde.autograde_preprocessors = [
    "grader.hooks.Judge",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# Feedback and formgrader pages: no script of a learner runs, and feedback works offline.
c.GenerateFeedback.exporter_class = "grader.feedback.OfflineFeedbackExporter"
c.HTMLExporter.filters = {"markdown2html": "grader.feedback.safe_markdown"}

c.ExportPlugin.to = str(DATA / "exports" / "grades.csv")

# `nbgrader validate` runs the learner's kernel; over ipc it prints no warning on stderr.
c.KernelManager.transport = "ipc"
