"""What stops the start."""


class ConfigurationError(Exception):
    """The configuration cannot be used; the message is one sentence a line, made to be shown."""


def why_unreadable(error: OSError | UnicodeDecodeError) -> str:
    """Say why a file could not be read, for the end of a sentence."""
    return str(error.strerror) if isinstance(error, OSError) else "not text"
