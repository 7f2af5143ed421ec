# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions, rigs and motion files as clips, and clips as Actions again."""
