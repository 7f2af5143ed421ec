# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs: the closed forms are what small steps of the differential equation lead to."""

import numpy as np
import pytest

from mm_blender.motion import spring

STEPS = 4000


def small_steps(x, v, goal, halflife, time):
    """x'' = -y² (x - goal) - 2 y x', by Heun's method: independent of the closed form."""
    y = 2 * np.log(2) / halflife
    dt = time / STEPS

    def pull(x, v):
        return -y * y * (x - goal) - 2 * y * v

    for _ in range(STEPS):
        a = pull(x, v)
        next_x, next_v = x + v * dt, v + a * dt
        x, v = x + (v + next_v) / 2 * dt, v + (a + pull(next_x, next_v)) / 2 * dt
    return x, v


@pytest.mark.parametrize("time", [0.05, 0.7])
def test_towards_solves_the_spring(time):
    x, v, goal = np.array([1.0, -2.0]), np.array([5.0, 0.0]), np.array([0.5, 3.0])
    np.testing.assert_allclose(spring.towards(x, v, goal, 0.2, time), small_steps(x, v, goal, 0.2, time), atol=1e-3)
    np.testing.assert_allclose(spring.decay(x, v, 0.2, time), small_steps(x, v, 0.0, 0.2, time), atol=1e-3)


def test_plain_numbers_go_the_same_way():
    turning = 1.0, -2.0, 0.4, 0.2, 0.05
    np.testing.assert_allclose(spring.towards_number(*turning), spring.towards(*turning))
    moving = 1 + 2j, -0.5 + 1j, 3 - 2j, 0.2j, 0.16, 0.05
    np.testing.assert_allclose(spring.velocity_number(*moving), spring.velocity_towards(*moving), atol=1e-12)


def test_velocity_towards_is_the_spring_of_the_velocity_and_its_integral():
    x, v, a, goal = 1.0, 2.0, -3.0, 4.0
    times = np.linspace(0, 0.5, 5001)
    position, velocity, acceleration = spring.velocity_towards(x, v, a, goal, 0.3, times)
    np.testing.assert_allclose((velocity, acceleration), spring.towards(v, a, goal, 0.3, times), atol=1e-12)
    np.testing.assert_allclose(np.gradient(position, times)[1:-1], velocity[1:-1], atol=1e-5)
    assert position[0] == pytest.approx(x)


def test_two_short_steps_are_one_long_step():
    now = (np.array([1.0, 2.0]), np.array([0.0, -1.0]))
    half = spring.towards(*now, 3.0, 0.1, 0.05)
    np.testing.assert_allclose(spring.towards(*half, 3.0, 0.1, 0.05), spring.towards(*now, 3.0, 0.1, 0.1))
    now = (0.0, 1.0, 2.0)
    half = spring.velocity_towards(*now, 3.0, 0.1, 0.05)
    np.testing.assert_allclose(spring.velocity_towards(*half, 3.0, 0.1, 0.05),
                               spring.velocity_towards(*now, 3.0, 0.1, 0.1))


@pytest.mark.parametrize("move", [
    lambda halflife, dt: spring.towards(1.0, 2.0, 5.0, halflife, dt)[0],
    lambda halflife, dt: spring.velocity_towards(0.0, 1.0, 2.0, 5.0, halflife, dt)[1],
])
def test_extreme_times_do_no_harm(move):
    assert move(0.0, 1 / 60) == pytest.approx(5.0)
    assert move(0.1, 1000.0) == pytest.approx(5.0)
    assert move(0.1, 0.0) == pytest.approx(1.0)


def test_float32_stays_float32():
    x = np.ones((3, 2), np.float32)
    results = (*spring.towards(x, x, x, 0.1, 1 / 60), *spring.decay(x, x, 0.1, 1 / 60),
               *spring.velocity_towards(x, x, x, x, 0.1, 1 / 60))
    assert {result.dtype.name for result in results} == {"float32"}
