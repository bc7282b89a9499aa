"""Graphs over named columns."""
