"""The numbers that hold, measured as ratios within one run: `python -m tests.bench [NAME…]`."""
