# SPDX-License-Identifier: GPL-3.0-or-later
"""Training networks in torch, in a process of its own."""
