"""Write the lines of ssh-login.truss that somebody might quote on a page, with words between them."""

from pathlib import Path

HERE = Path(__file__).parent
QUOTED = {
    "The shell starts a command:": (150, 159),
    "It asks for each file system, one after the other:": (1000, 1016),
    "and later it is still at it:": (3000, 3012),
    "until it ends:": (4052, 4062),
    "and the prompt comes:": (4102, 4104),
}


def excerpt() -> str:
    """The text of the page. Tabs are folded, as browsers do."""
    lines = (HERE / "ssh-login.truss").read_text(encoding="utf-8").splitlines()
    parts = []
    for words, (first, last) in QUOTED.items():
        parts += [words, "", *(" ".join(line.split()) for line in lines[first - 1 : last]), ""]
    return "\n".join(parts).strip()


if __name__ == "__main__":
    (HERE / "excerpt.txt").write_text(excerpt(), encoding="utf-8")
