# SPDX-License-Identifier: Apache-2.0
"""The recordings of an identification: what is wrong with them, and which are held out."""
