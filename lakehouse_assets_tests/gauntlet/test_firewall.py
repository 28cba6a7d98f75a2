"""Firewall logs by pattern: who knocks too often becomes an alert."""

from lakehouse_assets_tests.gauntlet.journey import Journey

INGEST = r"""
files:
  - name: firewall
    path: ${DATA}/firewall/*.log
    format: log
    pattern: '^(?P<day>[\d-]{10}) (?P<minute>\d\d:\d\d):\d\d (?P<action>\w+) (?P<address>[\d.]+) -> :(?P<port>\d+)'
    unmatched: skip
    columns: [{name: port, type: int}, {name: day, type: date}]
  - name: known_hosts
    path: ${DATA}/hosts.csv
    format: csv
"""
ALERTS = """
description: Addresses that were denied often within a minute, and who they are.
key: [day, minute, address]
audits: [{at_least: {denied: 3}}]
from: firewall
steps:
  - {do: filter, where: "action = 'DENY'"}
  - {do: aggregate, by: [day, minute, address], measures: {denied: count(*), ports: count(DISTINCT port)}}
  - {do: filter, where: "denied >= ${TOO_OFTEN}"}
  - {do: join, table: known_hosts, match: [address], columns: [owner], how: left}
"""
TRAFFIC = """
/* model
key: [action]
*/
SELECT action, COUNT(*) AS packets FROM firewall GROUP BY action
"""
HOSTS = """
/* model
key: [owner]
*/
SELECT owner, COUNT(*) AS hosts FROM known_hosts GROUP BY owner
"""


def lines(day: int, *knocks: tuple[str, str, int]) -> str:
    denied = [f"2026-01-0{day} {at}:00 DENY {address} -> :{port}" for at, address, port in knocks]
    return "\n".join(["--- rotated ---", f"2026-01-0{day} 08:00:00 ALLOW 10.0.0.1 -> :443", *denied, ""])


def test_alerts_from_firewall_logs(project: Journey):
    project.write("ingest/firewall.yaml", INGEST)
    project.write("models/alerts.model.yaml", ALERTS)
    project.write("models/traffic.sql", TRAFFIC)
    project.write("models/hosts.sql", HOSTS)
    settings = project.folder / "lakehouse.toml"
    settings.write_text(settings.read_text().replace('DATA = "data"', 'DATA = "data"\nTOO_OFTEN = "3"'))
    project.write("data/hosts.csv", "address,owner\n10.9.9.9,scanner\n10.0.0.1,us\n")
    knocks = [("09:00", "10.9.9.9", port) for port in (22, 23, 22, 80)]
    project.write("data/firewall/1.log", lines(1, *knocks, ("09:00", "10.8.8.8", 22), ("09:01", "10.8.8.8", 22)))
    query = (
        "SELECT day, minute, address, denied, ports, owner, (SELECT packets FROM traffic WHERE action = 'DENY') "
        "FROM alerts ORDER BY ALL"
    )
    first = ("2026-01-01", "09:00", "10.9.9.9", 4, 3, "scanner")
    project.goes(
        query,
        [(*first, 6)],
        change=lambda: project.write("data/firewall/2.log", lines(2, *[("10:00", "10.8.8.8", 22)] * 3)),
        landed={"firewall": 4},
        models=("alerts", "traffic"),
        then=[(*first, 9), ("2026-01-02", "10:00", "10.8.8.8", 3, 1, None, 9)],
    )
