# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations: every way of writing them says the same, also where formulas like to break."""

from itertools import permutations

import numpy as np
import pytest

from mm_blender.motion import quat

ORDERS = ["".join(order) for order in permutations("XYZ")]
rng = np.random.default_rng(1)


def some_rotations(*shape, dtype=np.float64):
    return quat.normalize(rng.normal(size=(*shape, 4))).astype(dtype)


def matrix_about(axis, angle):
    """Written out, independent of quat."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array({"X": [[1, 0, 0], [0, c, -s], [0, s, c]],
                     "Y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
                     "Z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis])


def angle_between(a, b):
    """Radians between rotations, exact also when it is tiny."""
    return np.linalg.norm(quat.to_scaled_angle_axis(quat.absolute(quat.inv_mul(np.float64(a), np.float64(b)))), axis=-1)


def test_product_and_rotation_are_those_of_matrices():
    a, b, v = some_rotations(50), some_rotations(50), rng.normal(size=(50, 3))
    product = quat.to_matrix(a) @ quat.to_matrix(b)
    np.testing.assert_allclose(quat.to_matrix(quat.mul(a, b)), product, atol=1e-12)
    np.testing.assert_allclose(quat.rotate(a, v), (quat.to_matrix(a) @ v[..., None])[..., 0], atol=1e-12)
    np.testing.assert_allclose(quat.inv_rotate(a, quat.rotate(a, v)), v, atol=1e-12)
    np.testing.assert_allclose(quat.mul(a, quat.inv_mul(a, b)), b, atol=1e-12)


def test_matrices_are_rotations():
    m = quat.to_matrix(some_rotations(50))
    np.testing.assert_allclose(m @ np.swapaxes(m, -1, -2), np.broadcast_to(np.eye(3), m.shape), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(m), 1)


@pytest.mark.parametrize("axis", "XYZ")
def test_angle_axis_turns_the_right_way(axis):
    q = quat.from_angle_axis(0.7, np.eye(3)["XYZ".index(axis)])
    np.testing.assert_allclose(quat.to_matrix(q), matrix_about(axis, 0.7), atol=1e-12)


def test_one_rotation_turns_many_and_many_turn_one():
    q, v = some_rotations(7, 5), rng.normal(size=(5, 3))
    assert quat.rotate(q, v).shape == (7, 5, 3)
    assert quat.rotate(q[0, 0], v).shape == (5, 3)
    assert quat.rotate(q[0, 0], v[0]).shape == (3,)
    assert quat.mul(q[0, 0], q).shape == (7, 5, 4)
    assert quat.mul(q, q[0]).shape == (7, 5, 4)
    assert quat.cross(v[0], v).shape == (5, 3)
    np.testing.assert_allclose(quat.mul(q[0, 0], q)[3, 2], quat.mul(q[0, 0], q[3, 2]), atol=1e-15)


def test_components_may_come_first():
    a, b, v = some_rotations(6, 5), some_rotations(6, 5), rng.normal(size=(6, 5, 3))
    np.testing.assert_allclose(quat.mul(a.T, b.T, axis=0), quat.mul(a, b).T, atol=1e-15)
    np.testing.assert_array_equal(quat.rotate(a.T, v.T, axis=0), quat.rotate(a, v).T)
    np.testing.assert_array_equal(quat.cross(v.T, v[::-1].T, axis=0), quat.cross(v, v[::-1]).T)
    np.testing.assert_array_equal(quat.inv(a.T, axis=0), quat.inv(a).T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_arrays_and_large_ones_are_computed_alike(dtype):
    a, b = some_rotations(quat.SMALL, dtype=dtype), some_rotations(quat.SMALL, dtype=dtype)
    few = slice(10, 17)
    accuracy = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(quat.mul(a[few], b[few]), quat.mul(a, b)[few], atol=accuracy)
    np.testing.assert_allclose(quat.to_matrix(a[few]), quat.to_matrix(a)[few], atol=accuracy)
    assert quat.mul(a[:0], b[:0]).shape == (0, 4) and quat.to_matrix(a[:0]).shape == (0, 3, 3)


def test_float32_stays_float32():
    q, v = some_rotations(4, 3, dtype=np.float32), np.ones((4, 3, 3), np.float32)
    t = np.linspace(0, 1, 4)[:, None]
    results = {
        "mul": quat.mul(q, q), "inv": quat.inv(q), "rotate": quat.rotate(q, v), "inv_rotate": quat.inv_rotate(q, v),
        "normalize": quat.normalize(q), "absolute": quat.absolute(q), "unroll": quat.unroll(q),
        "cross": quat.cross(v, v), "between": quat.between(v, -v), "exp": quat.exp(v), "log": quat.log(q),
        "identity": quat.identity((2,)), "slerp": quat.slerp(q, -q, 0.2), "slerp by array": quat.slerp(q, -q, t),
        "angular_velocity": quat.angular_velocity(q, 1 / 60), "from_euler": quat.from_euler(v, "XYZ"),
        "to_euler": quat.to_euler(q, "XYZ"), "from_matrix": quat.from_matrix(quat.to_matrix(q)),
        "from_two_axis": quat.from_two_axis(quat.to_two_axis(q)), "yaw": quat.yaw(v), "from_yaw": quat.from_yaw(v),
        "from_angle_axis": quat.from_angle_axis(v[..., 0], v)}
    assert {name: result.dtype for name, result in results.items() if result.dtype != np.float32} == {}


def test_zero_becomes_the_identity():
    q = np.zeros((2, 3, 4), np.float32)
    q[1, 1] = (0, 3, 0, 4)
    unit = quat.normalize(q)
    np.testing.assert_allclose(unit[1, 1], (0, 0.6, 0, 0.8), rtol=1e-6)
    np.testing.assert_array_equal(unit[0], quat.identity((3,)))
    np.testing.assert_array_equal(quat.normalize(np.zeros(4)), (1, 0, 0, 0))


def test_unroll_removes_jumps_of_each_joint_and_nothing_else():
    smooth = quat.from_scaled_angle_axis(np.linspace(0, 20, 200)[:, None, None] * rng.normal(size=(1, 6, 3)))
    jumping = smooth * rng.choice([-1, 1], size=(200, 6, 1))
    unrolled = quat.unroll(jumping)
    assert ((unrolled[1:] * unrolled[:-1]).sum(-1) > 0).all()
    np.testing.assert_array_equal(unrolled[0], jumping[0])
    np.testing.assert_array_equal(np.abs(unrolled), np.abs(jumping))
    assert quat.unroll(jumping[:1]).shape == (1, 6, 4)


@pytest.mark.parametrize("dtype, off", [(np.float64, 3e-7), (np.float32, 1e-6)])
@pytest.mark.parametrize("short_of", [0, 1e-12, 1e-7, 1e-5, 1e-3, 0.1])
def test_between_turns_one_direction_into_the_other_even_if_opposite(dtype, off, short_of):
    a = rng.normal(size=(20, 3))
    a /= np.linalg.norm(a, axis=-1, keepdims=True)
    side = np.cross(a, rng.normal(size=(20, 3)))
    b = (-a + short_of * side).astype(dtype)
    a = a.astype(dtype)
    b /= np.linalg.norm(b, axis=-1, keepdims=True)
    np.testing.assert_allclose(quat.rotate(quat.between(a, b), a), b, atol=off)
    np.testing.assert_allclose(np.linalg.norm(quat.between(a, b), axis=-1), 1, atol=1e-6)


def test_between_takes_any_length_and_the_shortest_way():
    quarter_turn = quat.from_angle_axis(np.pi / 2, (0, 0, 1))
    np.testing.assert_allclose(quat.between((5, 0, 0), (0, 0.1, 0)), quarter_turn, atol=1e-7)
    np.testing.assert_array_equal(quat.between((0, 0, 0), (0, 1, 0)), (1, 0, 0, 0))
    assert quat.between((0, 1, 0), np.ones((4, 3))).shape == (4, 4)


@pytest.mark.parametrize("dtype, off", [(np.float64, 1e-12), (np.float32, 1e-6)])
@pytest.mark.parametrize("angle", [0, 1e-9, 1e-5, 1e-3, 1, np.pi - 1e-3, np.pi])
def test_scaled_angle_axis_there_and_back(dtype, off, angle):
    axis = rng.normal(size=(20, 3))
    v = (angle * axis / np.linalg.norm(axis, axis=-1, keepdims=True)).astype(dtype)
    q = quat.from_scaled_angle_axis(v)
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1, atol=off)
    np.testing.assert_allclose(quat.to_scaled_angle_axis(q), v, atol=off)


@pytest.mark.parametrize("dtype, off", [(np.float64, 1e-7), (np.float32, 1e-6)])
@pytest.mark.parametrize("sign", [1, -1])
def test_slerp_goes_a_fraction_of_the_way_at_steady_speed(dtype, off, sign, subtests):
    for angle in (0, 1e-6, 1e-4, 1e-2, 1, np.pi - 1e-4, np.pi):
        with subtests.test(angle=angle):
            a = some_rotations(20)
            way = np.array([0.6, 0, 0.8]) * angle
            b = sign * quat.mul(a, quat.from_scaled_angle_axis(way))
            for t in (0, 0.25, 0.5, 1):
                middle = quat.slerp(a.astype(dtype), b.astype(dtype), t)
                # Half a turn may go either way round: then only how far it went is certain.
                np.testing.assert_allclose(angle_between(a, middle), t * angle, atol=off)
                if angle < np.pi:
                    assert angle_between(quat.mul(a, quat.from_scaled_angle_axis(t * way)), middle).max() < off


def test_slerp_takes_one_fraction_for_each():
    a, b = some_rotations(5, 3), some_rotations(5, 3)
    t = np.linspace(0, 1, 5)[:, None]
    np.testing.assert_allclose(quat.slerp(a, b, t)[2], quat.slerp(a[2], b[2], 0.5))


def test_angular_velocity_is_in_the_parents_frame_and_takes_the_short_way():
    spin = np.array([0.3, -2.0, 1.0])
    start = some_rotations(1)
    q = quat.mul(quat.from_scaled_angle_axis(np.arange(9)[:, None] / 60 * spin), start)
    q[4:] *= -1
    np.testing.assert_allclose(quat.angular_velocity(q, 1 / 60), np.tile(spin, (8, 1)), atol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_turn_about_the_first_axis_first(order):
    angles = (0.3, -0.8, 2.0)
    first, second, third = (matrix_about(axis, angle) for axis, angle in zip(order, angles))
    np.testing.assert_allclose(quat.to_matrix(quat.from_euler(angles, order)), third @ second @ first, atol=1e-12)
    np.testing.assert_allclose(quat.to_euler(quat.from_euler(angles, order), order), angles, atol=1e-12)


def test_euler_angles_may_be_fewer_or_repeat_an_axis():
    np.testing.assert_allclose(quat.to_matrix(quat.from_euler([0.4], "Y")), matrix_about("Y", 0.4), atol=1e-12)
    expected = matrix_about("Z", 0.3) @ matrix_about("X", 0.2) @ matrix_about("Z", 0.1)
    np.testing.assert_allclose(quat.to_matrix(quat.from_euler([0.1, 0.2, 0.3], "ZXZ")), expected, atol=1e-12)


@pytest.mark.parametrize("dtype, off", [(np.float64, 1e-6), (np.float32, 2e-6)])
@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_make_up_the_rotation_near_gimbal_lock(dtype, off, order, subtests):
    for short_of in (0, 1e-9, 1e-7, 1e-5, 1e-3, 0.1):
        with subtests.test(short_of=short_of):
            angles = rng.uniform(-np.pi, np.pi, size=(20, 3))
            angles[:10, 1] = np.pi / 2 - short_of
            angles[10:, 1] = -np.pi / 2 + short_of
            q = quat.from_euler(angles, order).astype(dtype)
            again = quat.from_euler(quat.to_euler(q, order).astype(np.float64), order)
            assert angle_between(q, again).max() < off


@pytest.mark.parametrize("dtype, off", [(np.float64, 1e-7), (np.float32, 1e-6)])
def test_matrix_there_and_back_also_for_half_turns(dtype, off):
    half_turns = np.concatenate([np.zeros((20, 1)), rng.normal(size=(20, 3))], axis=-1)
    about_axes = np.eye(4)
    q = quat.normalize(np.concatenate([half_turns, about_axes, some_rotations(40)])).astype(dtype)
    assert angle_between(q, quat.from_matrix(quat.to_matrix(q))).max() < off


def test_two_axes_there_and_back_though_skewed():
    q = some_rotations(30)
    columns = quat.to_two_axis(q)
    assert columns.shape == (30, 3, 2)
    skewed = np.stack([columns[..., 0] * 3, columns[..., 1] * 0.2 + columns[..., 0]], axis=-1)
    assert angle_between(q, quat.from_two_axis(skewed)).max() < 1e-7


def test_yaw_is_measured_from_forward_y():
    angle = np.linspace(-3, 3, 9)
    forward = quat.rotate(quat.from_yaw(angle), np.array([0, 1, 0]))
    np.testing.assert_allclose(quat.yaw(forward), angle, atol=1e-12)
    np.testing.assert_allclose(quat.yaw(forward[:, :2]), angle, atol=1e-12)


def test_the_shortest_turn_leads_from_one_rotation_to_the_other():
    a, b = some_rotations(200), some_rotations(200)
    turn = quat.shortest_turn(a, b)
    assert angle_between(quat.mul(quat.from_scaled_angle_axis(turn), a), b).max() < 1e-9
    assert np.linalg.norm(turn, axis=-1).max() <= np.pi
    np.testing.assert_allclose(quat.shortest_turn(a, -b), turn, atol=1e-12)
    np.testing.assert_allclose(quat.shortest_turn(a, a), 0, atol=1e-12)
    half = quat.shortest_turn(np.array([1.0, 0, 0, 0]), np.array([0.0, 0, 1, 0]))
    np.testing.assert_allclose(np.abs(half), [0, np.pi, 0])


def test_absolute_keeps_the_rotation():
    q = some_rotations(30)
    assert (quat.absolute(q)[:, 0] >= 0).all()
    np.testing.assert_array_equal(np.abs(quat.absolute(q)), np.abs(q))
