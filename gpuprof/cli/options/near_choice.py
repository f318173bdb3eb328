"""A choice whose message has the words that are near to a wrong one."""

import click

from gpuprof.base.wording import suggestion


class NearChoice(click.Choice):
    def get_invalid_choice_message(self, value, ctx):
        near = suggestion(str(value), self.choices)
        message = super().get_invalid_choice_message(value=value, ctx=ctx)
        return f"{message.rstrip('.')}; {near}" if near else message
