# SPDX-License-Identifier: GPL-3.0-or-later
"""A device or a path → what the person wants → where the character should be in a second."""
