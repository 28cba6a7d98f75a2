"""CFG, CDG, DFG and REF edges of a file, from the flows of its definitions and the meanings of its names."""

from lakehouse_assets.extract.facts import Columns
from lakehouse_assets.extract.python.columns import add_edges
from lakehouse_assets.extract.python.control import Flow
from lakehouse_assets.extract.python.data import add_data_flow
from lakehouse_assets.extract.python.dependence import dependences
from lakehouse_assets.extract.python.edges import Edges
from lakehouse_assets.extract.python.limits import Deadline
from lakehouse_assets.extract.python.names import Names
from lakehouse_assets.extract.python.rows import Rows, number_of
from lakehouse_assets.extract.python.scopes import Scopes


def add_flow_edges(definitions: list[Rows], scopes: Scopes, columns: Columns, deadline: Deadline) -> None:
    """Adds to the columns when all is found, so that a limit leaves no kind of edge half there."""
    control, dependence = Edges(), Edges()
    names = Names(scopes, definitions)
    for rows in definitions:
        flow = Flow(rows)
        d = rows.d
        places = [(point.d, number_of(point)) for point in flow.points]
        places.append((d, len(rows.kinds) - 1))
        for source, target, label in zip(flow.sources, flow.targets, flow.labels, strict=True):
            control.add_numbers(places[source], places[target], label)
        for source, target, label in dependences(flow):
            dependence.add_numbers(places[source], places[target], label)
        add_data_flow(flow, names.acts(rows), names.values, deadline)
    for kind, edges in (("CFG", control), ("CDG", dependence), ("DFG", names.values), ("REF", names.references)):
        add_edges(columns, kind, edges.src_d, edges.src_n, edges.dst_d, edges.dst_n, edges.labels)
