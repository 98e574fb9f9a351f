# SPDX-License-Identifier: Apache-2.0
"""Recordings of an identification: screening, warnings, and the split into training, selection and test."""
