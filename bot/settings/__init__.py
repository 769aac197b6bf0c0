"""Everything that can be configured: from the environment (WHYPENDING_…) and from one YAML file; the environment wins.

A mistake stops the start with a sentence that names the place and shows what a right value looks like.
"""

from bot.settings.errors import ConfigurationError
from bot.settings.model import CONFIG_VARIABLE, Settings, given
from bot.settings.parts import Access, Channel, Cluster, Digest, Headlamp, Links
from bot.settings.reference import table
from bot.settings.source import load

__all__ = [
    "CONFIG_VARIABLE",
    "Access",
    "Channel",
    "Cluster",
    "ConfigurationError",
    "Digest",
    "Headlamp",
    "Links",
    "Settings",
    "given",
    "load",
    "table",
]
