# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated root: it gets where it is wanted, and it knows where it will be and where it was."""

import numpy as np

from mm_blender.control.obstacles import Obstacles
from mm_blender.control.simulation import Simulation, wrapped

STEP = 1 / 60
WISHES = [(1.5j, 0.0), (-2 + 0.5j, 2.5)]


def driven(seconds, step=STEP, wishes=WISHES, simulation=None):
    simulation = simulation or Simulation(2, step, memory=1.0)
    for _ in range(round(seconds / step)):
        simulation.step(wishes)
    return simulation


def test_it_reaches_the_wanted_velocity_and_facing():
    simulation = driven(3)
    np.testing.assert_allclose(simulation.velocities, [[0.0, 1.5], [-2.0, 0.5]], atol=1e-3)
    np.testing.assert_allclose(simulation.yaws, [0.0, 2.5], atol=1e-3)


def test_the_prediction_is_where_it_will_be_however_small_the_steps():
    ahead, angles = driven(0.4).at([0.25, 1.0], WISHES)
    for index, time in enumerate((0.25, 1.0)):
        for step in (STEP, STEP / 5):
            there = driven(time, step, simulation=_with_step(driven(0.4), step))
            np.testing.assert_allclose(there.positions, ahead[:, index], atol=1e-9)
            np.testing.assert_allclose(there.yaws, angles[:, index], atol=1e-9)


def test_the_past_is_the_path_travelled():
    simulation, path = Simulation(2, STEP, memory=1.0), []
    for _ in range(90):
        simulation.step(WISHES)
        path.append((simulation.positions.copy(), simulation.yaws.copy()))
    behind, angles = simulation.at([-0.5, -10.5 / 60], WISHES)
    np.testing.assert_allclose(behind[:, 0], path[-31][0], atol=1e-9)
    np.testing.assert_allclose(angles[:, 0], path[-31][1], atol=1e-9)
    np.testing.assert_allclose(behind[:, 1], (path[-11][0] + path[-12][0]) / 2, atol=1e-9)


def test_a_root_that_was_put_somewhere_was_always_there():
    simulation = driven(1)
    simulation.place([[1, 2], [3, 4]], [0.5, -0.5])
    behind, angles = simulation.at([-1.0], WISHES)
    np.testing.assert_allclose(behind[:, 0], [[1, 2], [3, 4]])
    np.testing.assert_allclose(angles[:, 0], [0.5, -0.5])


def test_it_turns_the_shorter_way():
    simulation = Simulation(1, STEP)
    simulation.place([[0, 0]], [3.0])
    simulation.step([(0j, -3.0)])
    assert simulation.yaws[0] > 3.0


def test_it_slides_along_walls_also_where_it_looks_ahead():
    simulation, wish = Simulation(1, STEP), [(1 + 1.5j, 0.0)]
    simulation.obstacles = Obstacles([[[-9, 2], [9, 2]]], 0.3)
    for _ in range(180):
        simulation.step(wish)
    assert 1.69 < simulation.positions[0, 1] <= 1.7 and simulation.positions[0, 0] > 2.5
    np.testing.assert_allclose(simulation.velocities, [[1, 0]], atol=0.02)
    before = simulation.positions[0, 0]
    ahead, _ = simulation.at([-0.2, 0.2, 0.5, 1.0], wish)
    assert (ahead[..., 1] < 1.701).all() and ahead[0, -1, 0] - before > 0.9
    simulation.step([(-1.5j, 0.0)])
    assert simulation.velocities[0, 1] < 0  # nothing holds it


def test_angles_are_wrapped():
    np.testing.assert_allclose(wrapped(np.array([3.5, -3.5, 0.1])), [3.5 - 2 * np.pi, 2 * np.pi - 3.5, 0.1])


def _with_step(simulation, step):
    simulation.step_time = step
    return simulation


def test_placed_with_a_speed_it_goes_on_and_came_from_there():
    simulation = Simulation(1, 1 / 60)
    simulation.place([[1, 2]], [0.5], [[0.6, 1.2, 0.3]])
    wish = [(0.6 + 1.2j, 0.5)]
    places, yaws = simulation.at([-0.5, -0.25], wish)
    assert np.allclose(places, [[[0.7, 1.4], [0.85, 1.7]]]) and np.allclose(yaws, [[0.35, 0.425]])
    simulation.step(wish)
    assert np.allclose(simulation.positions, [[1.01, 2.02]], atol=1e-6)
