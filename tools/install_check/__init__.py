# SPDX-License-Identifier: Apache-2.0
"""`make install-check`: what a user installs works in clean environments, with pip and with uv."""
