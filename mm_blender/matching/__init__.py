# SPDX-License-Identifier: GPL-3.0-or-later
"""From clean clips to a database that can be searched: features, tags, the database and its file."""
