"""Encodes the spans of a file with the encoder of OpenTelemetry's exporter, in batches of 512 as its span processor sends them.

Prints the seconds of the best of some rounds and the bytes of one. The file has a span a line, as `martlet trace export` writes it.
"""

import json
import sys
import time

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, TraceFlags
from opentelemetry.trace.status import Status, StatusCode

KINDS = {kind.name.lower(): kind for kind in SpanKind}
resource = Resource({"service.name": "martlet", "process.pid": 4711})
scopes = {}


def attributes(facts):
    # The SDK keeps the attributes of a span in this type, with its usual limit.
    return BoundedAttributes(128, facts, immutable=False)


def read(line):
    facts = json.loads(line)

    def context(span_id):
        return SpanContext(int(facts["trace_id"], 16), int(span_id, 16), False, TraceFlags(TraceFlags.SAMPLED))

    scope = facts["scope"]
    start = facts["start_us"] * 1000
    return ReadableSpan(
        name=facts["name"],
        context=context(facts["span_id"]),
        parent=context(facts["parent_id"]) if "parent_id" in facts else None,
        resource=resource,
        attributes=attributes(facts.get("attributes", {})),
        events=[
            Event(event["name"], attributes(event.get("attributes", {})), event["time_us"] * 1000)
            for event in facts.get("events", [])
        ],
        kind=KINDS[facts["kind"]],
        status=Status(StatusCode.ERROR, facts["failure"]) if "failure" in facts else Status(),
        start_time=start,
        end_time=start + facts["duration_ns"],
        instrumentation_scope=scopes.setdefault(scope, InstrumentationScope(scope)),
    )


with open(sys.argv[1]) as file:
    spans = [read(line) for line in file]
best = float("inf")
for _ in range(int(sys.argv[2])):
    size = 0
    start = time.perf_counter()
    for place in range(0, len(spans), 512):
        size += len(encode_spans(spans[place : place + 512]).SerializeToString())
    best = min(best, time.perf_counter() - start)
print(best, size)
