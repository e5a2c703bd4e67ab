"""The tables of the database of a server, and what brings older ones to this version."""

from __future__ import annotations

import sqlalchemy as sa

VERSION = 6
# The table that is changed, and statements, from a version to the next one. What is new in two versions, older servers do not
# read: the log of `LoggedIds` in version 4, and packed states in version 6.
MIGRATIONS: dict[int, tuple[str, list[str]]] = {
    1: ("occasions", ["ALTER TABLE occasions ADD COLUMN closed BOOLEAN NOT NULL DEFAULT FALSE"]),
    2: (
        "messages",
        [
            "INSERT INTO batches (survey, label, size, data) SELECT survey, label, length(message), message FROM messages "
            "ORDER BY place",
            "DROP TABLE messages",
        ],
    ),
    4: ("surveys", ["ALTER TABLE surveys ADD COLUMN description TEXT", "ALTER TABLE ldpfast ADD COLUMN identity TEXT"]),
}

metadata = sa.MetaData()
about = sa.Table(
    "ldpfast",
    metadata,
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("identity", sa.Text),  # random: it names the database in the batches of exported states
)
occasions = sa.Table(
    "occasions",
    metadata,
    sa.Column("occasion", sa.Integer, primary_key=True),
    sa.Column("key", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("wave", sa.Integer),
    sa.Column("closed", sa.Boolean, nullable=False, server_default=sa.false()),
)
surveys = sa.Table(
    "surveys",
    metadata,
    sa.Column("survey", sa.Integer, primary_key=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("occasion", sa.ForeignKey("occasions.occasion"), nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("description", sa.Text),  # JSON of `Survey.to_dict`; missing for surveys that older servers have received
)
ids = sa.Table(
    "ids",
    metadata,
    sa.Column("occasion", sa.Integer, primary_key=True),
    sa.Column("id", sa.LargeBinary, primary_key=True),
    sa.Column("digest", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
batches = sa.Table(  # messages of the same size, one after the other
    "batches",
    metadata,
    sa.Column("place", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("survey", sa.Integer, nullable=False),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
marks = sa.Table(  # when the newest batch was which, for messages that are kept for a stated time (`MessageAges`)
    "marks",
    metadata,
    sa.Column("place", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
    sa.Column("time", sa.BigInteger, nullable=False),  # seconds since the epoch
)
states = sa.Table(
    "states",
    metadata,
    sa.Column("survey", sa.Integer, primary_key=True),
    sa.Column("label", sa.Text, primary_key=True),
    sa.Column("n", sa.BigInteger, nullable=False),
    sa.Column("state", sa.LargeBinary, nullable=False),
)
refusals = sa.Table(
    "refusals",
    metadata,
    sa.Column("reason", sa.String(40), primary_key=True),
    sa.Column("count", sa.BigInteger, nullable=False),
)
parts = sa.Table(  # of the messages to a survey in a group that were exported
    "parts",
    metadata,
    sa.Column("survey", sa.Integer, primary_key=True),
    sa.Column("label", sa.Text, primary_key=True),
    sa.Column("part", sa.Integer, primary_key=True),
    sa.Column("last", sa.BigInteger, nullable=False),  # place of the last message; 0 when all are folded
    sa.Column(
        "has_messages", sa.Boolean, nullable=False
    ),  # whether the messages were exported, or only counted in states
)
