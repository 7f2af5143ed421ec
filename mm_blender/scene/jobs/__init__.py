# SPDX-License-Identifier: GPL-3.0-or-later
"""Work that takes long, bakes and trainings, and the files that come of it."""
