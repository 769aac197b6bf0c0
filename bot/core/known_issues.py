"""Known issues of Kueue."""
