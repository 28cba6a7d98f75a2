"""`lakehouse completion`: scripts that let a shell complete verbs and options."""

import click
from click.shell_completion import get_completion_class

_VARIABLE = "_LAKEHOUSE_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete verbs, options and their values.

    \b
    Examples:
      lakehouse completion bash > ~/.local/share/bash-completion/completions/lakehouse
      lakehouse completion zsh > "${fpath[1]}/_lakehouse"
      lakehouse completion fish > ~/.config/fish/completions/lakehouse.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None  # the choices are click's own
    click.echo(kind(ctx.find_root().command, {}, "lakehouse", _VARIABLE).source())
