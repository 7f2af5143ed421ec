# SPDX-License-Identifier: GPL-3.0-or-later
"""Raw clips in, clean clips out: resampled, trimmed, with a root on the ground and contacts."""
