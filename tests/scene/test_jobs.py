# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs: long work in slices, with progress, that can be cancelled at any step and ends well or with a sentence."""

import bpy
import pytest

from mm_blender.errors import Cancelled, MotionError
from mm_blender.scene import jobs
from mm_blender.steps import Progress


@pytest.fixture(autouse=True)
def one_step_in_each_slice(extension, monkeypatch):
    clock = iter(range(10 ** 9))
    monkeypatch.setattr(jobs.time, "perf_counter", lambda: next(clock) * 0.6 * jobs.SLICE[0])
    yield
    jobs.cancel()


class Work:
    """Steps that note what happens to them."""

    def __init__(self, count=3, error=None):
        self.done, self.closed, self.result = 0, False, None
        self.steps = self._steps(count, error)

    def _steps(self, count, error):
        try:
            for index in range(count):
                yield Progress(index / count, f"step {index}")
                self.done += 1
            if error:
                raise error
            return "made"
        finally:
            self.closed = True

    def start(self, title="Working"):
        jobs.start(self.steps, title, lambda result: setattr(self, "result", result))
        return self


def finish():
    count = 0
    while jobs.tick() is not None:
        count += 1
    return count


def test_a_job_shows_its_progress_and_hands_over_its_result():
    work = Work().start()
    seen = []
    while jobs.tick() is not None:
        seen.append((jobs.current().share, jobs.current().text))
    assert seen == [(0, "step 0"), (1 / 3, "step 1"), (2 / 3, "step 2")]
    assert work.result == "made" and jobs.current() is None and jobs.last_error() == ""


def test_the_work_is_done_by_a_timer_until_it_is_over():
    Work().start()
    assert bpy.app.timers.is_registered(jobs.tick)
    assert jobs.tick() == jobs.REST and finish() == 2 and jobs.tick() is None


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_it_can_be_cancelled_after_any_step(steps):
    work = Work().start()
    for _ in range(steps):
        jobs.tick()
    jobs.cancel()
    assert jobs.current() is None and work.result is None and jobs.last_error() == ""
    assert work.closed or steps == 0  # a generator that has not begun has nothing to close
    assert finish() == 0 and work.done == max(0, steps - 1)


def test_a_reason_for_cancelling_is_told():
    Work().start()
    jobs.cancel("The file was closed.")
    assert jobs.last_error() == "The file was closed."


def test_why_it_failed_is_not_told_in_another_file():
    Work().start()
    jobs.cancel("The file was closed.")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert jobs.last_error() == ""


def test_a_job_that_stops_itself_ends_without_a_sentence():
    work = Work(error=Cancelled()).start()
    finish()
    assert jobs.current() is None and jobs.last_error() == "" and work.result is None


def test_what_is_wrong_with_the_input_is_told_under_its_title_until_the_next_job():
    Work(error=MotionError("The bone is missing.")).start("Baking")
    finish()
    assert jobs.current() is None
    assert jobs.last_error() == jobs.last_error("Baking") == "The bone is missing."
    assert jobs.last_error("Importing") == ""
    Work().start()
    assert jobs.last_error() == ""


def test_a_mistake_of_ours_is_not_swallowed_and_leaves_no_job():
    work = Work(error=KeyError("oops")).start("Baking")
    with pytest.raises(KeyError):
        finish()
    assert jobs.current() is None and work.closed
    assert jobs.last_error() == "Baking stopped because of a mistake in Motion Matching: see the system console."


def test_what_goes_wrong_at_the_very_end_is_told_too():
    def done(_):
        raise MotionError("There is no place for it.")
    jobs.start(Work().steps, "Baking", done)
    finish()
    assert jobs.current() is None and jobs.last_error("Baking") == "There is no place for it."


def test_there_is_one_job_at_a_time():
    work = Work().start("Baking")
    with pytest.raises(MotionError, match="Baking is still under way: wait for it or cancel it first"):
        Work().start("Importing")
    finish()
    assert work.result == "made"


def test_a_job_may_start_another_one_when_it_is_done():
    second = Work()
    jobs.start(Work().steps, "First", lambda _: second.start("Second"))
    while jobs.current() is not None:
        jobs.tick()
    assert second.result == "made"


def test_a_new_job_right_after_a_cancelled_one_has_one_timer(monkeypatch):
    registered, register = [], bpy.app.timers.register

    def noted(function, **options):
        registered.append(function)
        return register(function, **options)
    monkeypatch.setattr(bpy.app.timers, "register", noted)
    for _ in range(2):
        Work().start()
        jobs.cancel()
    assert registered.count(jobs.tick) <= 1  # the timer of the first job is still there


def test_opening_a_file_cancels_the_job():
    work = Work().start()
    jobs.tick()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert jobs.current() is None and work.closed


def test_disabling_the_extension_cancels_the_job():
    work = Work().start()
    jobs.tick()
    jobs.unregister()
    try:
        assert jobs.current() is None and work.closed and not bpy.app.timers.is_registered(jobs.tick)
        assert jobs._on_load not in bpy.app.handlers.load_pre
    finally:
        jobs.register()


def test_scripts_run_the_same_steps_at_once():
    work = Work()
    assert jobs.run(work.steps) == "made" and work.done == 3
