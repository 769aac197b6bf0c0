"""The demo: the real bot, a Slack on loopback, recorded clusters on loopback, and a page to use them in."""


def run(port: int = 8765) -> int:
    """Run the demo until it is interrupted; give the exit status: 1 when the port is taken."""
    from bot.demo import stage  # noqa: PLC0415 - the modules of the bot are loaded only by those who want it

    return stage.run(port)
