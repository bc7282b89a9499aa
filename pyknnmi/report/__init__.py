"""Plots and reports: what people look at."""
