"""Tells why a job that Kueue manages is pending: the cause, the numbers that prove it, whose move it is."""

__version__ = "0.1.0"
