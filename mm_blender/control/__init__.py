# SPDX-License-Identifier: GPL-3.0-or-later
"""Who says where a character should go: devices, what they want, and guides → the path ahead."""
