"""The pages of every command's options, written from the parser itself: `python -m tests.docs.options` writes docs/commands/."""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from noisygd_delete.cli import parser
from noisygd_delete.cli.arguments import COMMON

GROUPS = {  # page -> its title, and its commands in order of use
    "begin": ("Get started", "quickstart advise plan init"),
    "store": (
        "Stores and models",
        "learn delete replace insert publish relearn stream predict evaluate explain status budget verify",
    ),
    "certificates": (
        "Certificates and reports",
        "certificate verify-certificate keygen report export document audit residue",
    ),
    "register": ("Request register", "register restrict object lift"),
    "service": ("Operation", "serve token requests watch publish-to"),
}
EVERYWHERE = "--json"
FOLDER = Path(__file__).parents[2] / "docs" / "commands"


@cache
def program() -> argparse.ArgumentParser:
    """The parser of the whole program, which takes a while to make; not to be changed."""
    return parser()


def children(command: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands below one, by name."""
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def plainly(text: str) -> str:
    """Words on one line, none of which a browser takes for a tag."""
    return re.sub(r"\s+", " ", text).replace("<", "&lt;").strip()


def name(action: argparse.Action) -> str:
    """An option as it is typed, with the name of its value."""
    value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.nargs == 0:
        return ", ".join(f"`{word}`" for word in action.option_strings)
    if not action.option_strings:
        return f"`{value}`"
    return ", ".join(f"`{word} {value}`" for word in action.option_strings)


def meaning(command: argparse.ArgumentParser, action: argparse.Action) -> str:
    """The option's own help, its choices and whether it must be given."""
    said = (action.help or "") % {**vars(action), "prog": command.prog}
    if action.choices is not None:
        said += f" ({', '.join(f'`{choice}`' for choice in action.choices)})"
    if action.required and action.option_strings:
        said += " (**required**)"
    return plainly(said)


def lists(command: argparse.ArgumentParser, said: dict[str, str], here: str) -> Iterator[str]:
    """One list for each group of options, as `--help` groups them; what stands in the example and has no words of its own is left out.

    said: line -> link to the command under which it stands; what stands there already is named, and this command's lines are added
    """
    plain: list[str] = []
    titled: list[str] = []
    elsewhere: dict[str, list[str]] = defaultdict(list)
    for group in command._action_groups:
        shown = []
        for action in group._group_actions:
            hidden = action.help is argparse.SUPPRESS
            if hidden or isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
                continue
            if words := meaning(command, action):
                line = f"* {name(action)}: {words}"
                if len(line.split()) < 9 or said.setdefault(line, here) == here:
                    shown.append(line)
                else:
                    elsewhere[said[line]].append(name(action))
        title = {"positional arguments": "", "options": ""}.get(group.title or "", group.title or "")
        if shown and title:
            titled += [f"\n{plainly(title)[:1].upper()}{plainly(title)[1:]}:\n", *shown]
        else:
            plain += shown
    yield from ["", *plain] if plain else []
    yield from titled
    yield from ["", *(f"As in {link}: {', '.join(names)}." for link, names in elsewhere.items())] if elsewhere else []


def page(
    command: argparse.ArgumentParser,
    words: str,
    about: str,
    level: int = 1,
    file: str = "",
    said: dict[str, str] | None = None,
) -> str:
    """A command with its options and its example; the commands below it follow as sections."""
    said = {} if said is None else said
    parts = [f"{'#' * level} {words}", "", f"{plainly(about)[:1].upper()}{plainly(about)[1:]}."]
    parts += lists(command, said, f"[`{words}`]({file}#{words.replace(' ', '-')})")
    common = [f"`{option}`" for option in command.takes if option != EVERYWHERE]
    parts += ["", f"[Also](index.md): {', '.join(common)}."] if common else []
    examples = re.findall(r"noisygd-delete [^;]+", re.sub(r"\s+", " ", command.epilog or ""))
    parts += ["", "```", *(line.strip() for line in examples), "```"] if examples else []
    below = {action.dest: action.help or "" for action in _listed(command)}
    for child, parsed in children(command).items():
        parts += ["", page(parsed, f"{words} {child}", below.get(child, ""), level + 1, file, said).rstrip("\n")]
    return "\n".join(parts) + "\n"


def _listed(command: argparse.ArgumentParser) -> list[argparse.Action]:
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            return list(action._choices_actions)
    return []


def pages() -> dict[str, str]:
    """File name -> text: every command on the page of its group, and an index."""
    whole = parser()
    about = {action.dest: action.help or "" for action in _listed(whole)}
    commands = children(whole)
    every = dict(commands)
    written, listed, said = {}, [], {}
    for file, (title, words) in GROUPS.items():
        sections = [page(commands.pop(word), word, about[word], 2, f"{file}.md", said) for word in words.split()]
        written[f"{file}.md"] = "\n".join([f"# {title}", "", *sections])
        links = ", ".join(f"[`{word}`]({file}.md#{word})" for word in words.split())
        listed.append(f"* {title}: {links}")
    if commands:
        raise ValueError(f"on no page: {', '.join(commands)}")
    index = ["# All commands and options", "", "Generated from the parser; `--help` prints the same.", ""]
    index += [*listed, "", "## Options shared by several commands", ""]
    without = [f"`{word}`" for word, one in every.items() if not children(one) and EVERYWHERE not in one.takes]
    index += [f"The page of a command lists those it accepts; all accept `{EVERYWHERE}` except {', '.join(without)}."]
    index += ["", "```", COMMON, "```"]
    return {"index.md": "\n".join(index) + "\n", **written}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        path.unlink()
    for file, text in pages().items():
        (FOLDER / file).write_text(text)
