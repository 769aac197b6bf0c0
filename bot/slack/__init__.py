"""Slack: listeners acknowledge and hand over, the desk answers, the poster posts, a transport receives.

To listen to something more: register it in `listeners`, acknowledge first, and hand the work to `Desk.begin`.
"""
