"""Jobs in child processes, and what becomes of those that end their process."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from coopmat.diagnostics import Error
from coopmat.targets.base.children import Ending, answer, answers

FUNCTION = f"{__name__}:work"


def work(job: Any) -> Any:
    """Runs in the child."""
    match job:
        case "die":
            print("last words", flush=True)
            os.kill(os.getpid(), signal.SIGILL)
        case "exit":
            os._exit(3)
        case "sleep":
            time.sleep(60)
        case "raise":
            raise Error("expected this")
        case "print":
            os.write(1, b"a driver prints")
    return os.environ.get("COOPMAT_TEST_CHILD", ""), job


def test_answers_come_in_order_and_prints_do_not_disturb_them() -> None:
    found = answers(FUNCTION, [1, "print", [2, 3]], seconds=60, environment={"COOPMAT_TEST_CHILD": "x"})
    assert found == [("x", 1), ("x", "print"), ("x", [2, 3])]


def test_one_job_ends_its_process_and_no_other_job() -> None:
    before, died, after, left = answers(FUNCTION, [1, "die", 2, "exit"], seconds=60)
    assert (before[1], after[1]) == (1, 2)
    assert died == Ending("was ended by SIGILL", "last words")
    assert str(left) == "ended with exit code 3"


def test_a_job_that_does_not_end_is_ended() -> None:
    assert answer(FUNCTION, "sleep", seconds=5) == Ending("did not end within 5 s", is_late=True)


def test_errors_are_answers() -> None:
    found = answer(FUNCTION, "raise", seconds=60)
    assert isinstance(found, Error)
    assert str(found) == "expected this"


def test_a_function_that_is_not_there_ends_the_process() -> None:
    found = answer("coopmat.nothing:work", 1, seconds=60)
    assert isinstance(found, Ending)
    assert "No module named 'coopmat.nothing'" in found.log


