"""Says with the published classes of OTLP what our requests contain, and makes requests for us to read. The input is a JSON
object with our requests; the output is one with what they contain, and with requests and what a receiver makes of them."""

import base64
import json
import random
import struct
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs_service
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics_service
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service
from opentelemetry.proto.common.v1 import common_pb2 as common
from opentelemetry.proto.metrics.v1 import metrics_pb2 as metrics
from opentelemetry.proto.trace.v1 import trace_pb2 as trace


def text(data):
    return base64.b64encode(data).decode()


# What a message contains, field by field. Numbers of 64 bits are texts and doubles their bits, so that JSON changes nothing.


def value(any_value, received=False):
    kind = any_value.WhichOneof("value")
    if kind is None:
        return {}
    content = getattr(any_value, kind)
    if kind == "int_value":
        return {"i": str(content)}
    if kind == "double_value":
        if received and content - content != 0:
            return {"s": "NaN" if content != content else "Infinity" if content > 0 else "-Infinity"}
        return {"d": struct.pack(">d", content).hex()}
    if kind == "array_value":
        return {"a": [value(one, received) for one in content.values]}
    if kind == "kvlist_value":
        return {"k": pairs(content.values, received)}
    if kind == "bytes_value":
        return {"s": text(content)}
    return {kind[0]: content}


def pairs(attributes, received=False):
    return [[pair.key, value(pair.value, received)] for pair in attributes]


def context(holder):
    return [holder.trace_id.hex(), holder.span_id.hex(), holder.trace_state]


def facts(span, received=False):
    dropped = span.dropped_attributes_count + span.dropped_events_count + span.dropped_links_count
    for part in list(span.events) + list(span.links):
        dropped += part.dropped_attributes_count if received else 0
    return {
        "context": context(span),
        "parent": span.parent_span_id.hex(),
        "name": span.name,
        "kind": (span.kind or 1) if received else span.kind,
        "times": [str(span.start_time_unix_nano), str(span.end_time_unix_nano)],
        "attributes": pairs(span.attributes, received),
        "events": [[one.name, str(one.time_unix_nano), pairs(one.attributes, received)] for one in span.events],
        "links": [[context(one), one.flags, pairs(one.attributes, received)] for one in span.links],
        "status": [span.status.code, span.status.message],
        "flags": span.flags,
        "dropped": min(dropped, 2**32 - 1),
    }


def groups(request, received=False):
    return [
        {
            "resource": pairs(one.resource.attributes, received),
            "scope": [part.scope.name, part.scope.version, pairs(part.scope.attributes, received)],
            "spans": [facts(span, received) for span in part.spans if not received or is_valid(span)],
        }
        for one in request.resource_spans
        for part in one.scope_spans
    ]


def log_facts(request):
    return [
        [
            pairs(one.resource.attributes), part.scope.name,
            [str(log.time_unix_nano), str(log.observed_time_unix_nano)], log.severity_number, log.severity_text,
            value(log.body), pairs(log.attributes), log.trace_id.hex(), log.span_id.hex(),
        ]
        for one in request.resource_logs
        for part in one.scope_logs
        for log in part.log_records
    ]


def number(point):
    which = point.WhichOneof("value")
    return {which: str(getattr(point, which))}


def written_metrics(request):
    """All that our metrics say."""
    found = []
    for part in (part for one in request.resource_metrics for part in one.scope_metrics):
        for metric in part.metrics:
            kind = metric.WhichOneof("data")
            data = getattr(metric, kind)
            points = []
            for point in data.data_points:
                facts = {
                    "times": [str(point.start_time_unix_nano), str(point.time_unix_nano)],
                    "attributes": pairs(point.attributes),
                }
                if kind == "histogram":
                    facts.update(
                        count=point.count, sum=point.sum, buckets=list(point.bucket_counts),
                        bounds=list(point.explicit_bounds))
                else:
                    facts.update(number(point))
                points.append(facts)
            found.append([
                part.scope.name, metric.name, metric.description, metric.unit, kind,
                getattr(data, "aggregation_temporality", 0), getattr(data, "is_monotonic", False), points,
            ])
    return found


# The JSON of OTLP differs from that of Protocol Buffers: ids are hexadecimal digits, and enums are numbers.


def converted(node, change):
    if isinstance(node, list):
        return [converted(one, change) for one in node]
    if isinstance(node, dict):
        names = ("traceId", "spanId", "parentSpanId")
        return {key: change(one) if key in names else converted(one, change) for key, one in node.items()}
    return node


def from_json(body, request):
    json_format.ParseDict(converted(json.loads(body), lambda digits: text(bytes.fromhex(digits))), request)
    return request


def to_json(request, chance):
    plain = json_format.MessageToDict(request, use_integers_for_enums=True)
    change = lambda coded: chance.choice([str.upper, str.lower])(base64.b64decode(coded).hex())
    return json.dumps(converted(plain, change))


# Requests for us to read.


def random_value(chance, depth=0):
    kind = chance.randrange(10 if depth < 4 else 8)
    if kind == 0:
        return common.AnyValue(string_value=chance.choice(["", "a", "Größe", "\U0001F600", "\0\n\"\\"]))
    if kind == 1:
        return common.AnyValue(bool_value=chance.random() < 0.5)
    if kind in (2, 3):
        return common.AnyValue(int_value=chance.choice([0, 1, -1, 2**63 - 1, -(2**63), 2**31]))
    if kind in (4, 5):
        doubles = [0.0, -0.0, 1.5, -1e300, 5e-324, float("nan"), float("inf"), float("-inf"), 3.0]
        return common.AnyValue(double_value=chance.choice(doubles))
    if kind == 6:
        return common.AnyValue(bytes_value=chance.randbytes(chance.randrange(20)))
    if kind == 7:
        return common.AnyValue()
    if kind == 8:
        values = [random_value(chance, depth + 1) for _ in range(chance.randrange(4))]
        return common.AnyValue(array_value=common.ArrayValue(values=values))
    return common.AnyValue(kvlist_value=common.KeyValueList(values=random_pairs(chance, depth + 1)))


def random_pairs(chance, depth=0):
    keys = chance.sample(["a", "b.c", "", "schön", "x" * 200, "http.route"], chance.randrange(5))
    return [common.KeyValue(key=key, value=random_value(chance, depth)) for key in keys]


def is_valid(span):
    ids = len(span.trace_id) == 16 and len(span.span_id) == 8 and any(span.trace_id) and any(span.span_id)
    return ids and len(span.parent_span_id) in (0, 8)


def random_span(chance):
    start = chance.randrange(2**62 // 1000) * 1000
    remote = chance.random() < 0.3
    span = trace.Span(
        trace_id=chance.randbytes(16), span_id=chance.randbytes(8), trace_state=chance.choice(["", "a=1,b=2"]),
        parent_span_id=chance.choice([b"", chance.randbytes(8)]) if not remote else chance.randbytes(8),
        name=chance.choice(["", "GET /", "ü"]), kind=chance.randrange(6), start_time_unix_nano=start,
        end_time_unix_nano=start + chance.randrange(10**12), attributes=random_pairs(chance),
        dropped_attributes_count=chance.choice([0, 0, 7, 2**32 - 1]), dropped_events_count=chance.choice([0, 3]),
        dropped_links_count=chance.choice([0, 2]),
        flags=(0x300 if remote else 0x100) | chance.randrange(2),
    )
    for _ in range(chance.randrange(3)):
        span.events.add(
            name=chance.choice(["", "exception"]), time_unix_nano=chance.randrange(2**61 // 1000) * 1000,
            attributes=random_pairs(chance), dropped_attributes_count=chance.choice([0, 1]))
    for _ in range(chance.randrange(3)):
        span.links.add(
            trace_id=chance.randbytes(16), span_id=chance.randbytes(8), trace_state=chance.choice(["", "k=v"]),
            attributes=random_pairs(chance), flags=chance.choice([0x100, 0x101]))
    status = chance.randrange(5)
    if status == 1:
        span.status.code = trace.Status.STATUS_CODE_OK
    elif status > 1:
        span.status.code = trace.Status.STATUS_CODE_ERROR
        span.status.message = chance.choice(["", "it broke"])
        if status > 2:
            kind = chance.choice(["timeout", "500"])
            span.attributes.add(key="error.type", value=common.AnyValue(string_value=kind))
            span.status.message = span.status.message or kind
    if chance.random() < 0.1:
        wrong = chance.randrange(4)
        if wrong == 0:
            span.trace_id = bytes(16)
        elif wrong == 1:
            span.span_id = chance.randbytes(7)
        elif wrong == 2:
            span.parent_span_id = b"xyz"
        else:
            span.ClearField("trace_id")
    return span


def random_request(chance):
    request = service.ExportTraceServiceRequest()
    for _ in range(2):
        one = request.resource_spans.add(schema_url="https://example.com/1")
        one.resource.attributes.extend(random_pairs(chance))
        for place in range(2):
            part = one.scope_spans.add(schema_url="https://example.com/2")
            part.scope.name = f"part{place}"
            part.scope.version = chance.choice(["", "1.0"])
            part.scope.attributes.extend(random_pairs(chance))
            part.spans.extend(random_span(chance) for _ in range(20))
    return request


# Metrics, which are only read.


def bits(number):
    return struct.pack(">d", number).hex() if number - number == 0 else None


def point_value(kind, point):
    """What is known about a point, or None if it has to be rejected."""
    if kind in ("gauge", "sum"):
        which = point.WhichOneof("value")
        number = bits(float(getattr(point, which))) if which else None
        return number and {"number": number}
    facts = {"count": str(point.count)}
    if kind == "summary" or point.HasField("sum"):
        facts["sum"] = bits(point.sum)
    if kind != "summary":
        for name in ("min", "max"):
            facts[name] = bits(getattr(point, name)) if point.HasField(name) else None
    return {name: fact for name, fact in facts.items() if fact}


def metric_facts(request):
    """The points that are taken, and how many are rejected."""
    taken, rejected = [], 0
    for part in (part for one in request.resource_metrics for part in one.scope_metrics):
        for metric in part.metrics:
            kind = metric.WhichOneof("data")
            for point in getattr(metric, kind).data_points if kind else []:
                if point.flags & 1:
                    continue
                facts = point_value(kind, point)
                if not facts or not point.time_unix_nano or not metric.name:
                    rejected += 1
                    continue
                taken.append({
                    "metric": [part.scope.name, metric.name, metric.unit, kind],
                    "delta": getattr(getattr(metric, kind), "aggregation_temporality", 0) == 1,
                    "attributes": pairs(point.attributes, received=True),
                    "time": str(point.time_unix_nano),
                    "value": facts,
                })
    return taken, rejected


def random_points(chance, kind):
    for _ in range(chance.randrange(4)):
        numbers = [0.0, 1.5, -1e300, 5e-324, 3.0, float("nan"), float("-inf")]
        point = {
            "start_time_unix_nano": 7, "time_unix_nano": chance.choice([0] + [chance.randrange(2**61 // 1000) * 1000] * 9),
            "attributes": random_pairs(chance), "flags": chance.choice([0, 0, 0, 0, 1, 2]),
        }
        if kind in ("gauge", "sum"):
            point.update(chance.choice([{}, {"as_int": chance.choice([0, -1, 2**63 - 1])}] + [
                {"as_double": chance.choice(numbers)}, {"as_int": 12}]))
            point["exemplars"] = [metrics.Exemplar(as_int=3, span_id=bytes(8))][: chance.randrange(2)]
        else:
            point["count"] = chance.choice([0, 1, 2**40])
            point["sum"] = chance.choice(numbers)
        if kind in ("histogram", "exponential_histogram"):
            for name in ("min", "max"):
                if chance.random() < 0.7:
                    point[name] = chance.choice(numbers)
        if kind == "histogram":
            point.update(bucket_counts=[1, 2, 3], explicit_bounds=[0.5, 1])
        elif kind == "exponential_histogram":
            buckets = metrics.ExponentialHistogramDataPoint.Buckets(offset=-3, bucket_counts=[1, 2])
            point.update(scale=-2, zero_count=4, positive=buckets, negative=buckets, zero_threshold=0.1)
        elif kind == "summary":
            quantile = metrics.SummaryDataPoint.ValueAtQuantile(quantile=0.5, value=2)
            point.update(quantile_values=[quantile])
        yield point


def random_metrics(chance):
    request = metrics_service.ExportMetricsServiceRequest()
    for place in range(2):
        part = request.resource_metrics.add().scope_metrics.add()
        part.scope.name = f"part{place}"
        for _ in range(40):
            metric = part.metrics.add(
                name=chance.choice(["", "a", "b.c", "ü"]), unit=chance.choice(["", "s", "{call}"]), description="what")
            kind = chance.choice(["gauge", "sum", "histogram", "exponential_histogram", "summary", None])
            if kind is None:
                continue
            data = getattr(metric, kind)
            data.SetInParent()
            for point in random_points(chance, kind):
                data.data_points.add(**point)
            if kind not in ("gauge", "summary"):
                data.aggregation_temporality = chance.randrange(3)
    return request


def made_metrics(chance):
    request = random_metrics(chance)
    taken, rejected = metric_facts(request)
    return {
        "protobuf": text(request.SerializeToString()),
        "json": json_format.MessageToJson(request, use_integers_for_enums=True),
        "points": taken,
        "rejected": rejected,
    }


def main():
    given = json.load(sys.stdin)
    ours = service.ExportTraceServiceRequest.FromString(base64.b64decode(given["protobuf"]))
    same = from_json(given["json"], service.ExportTraceServiceRequest())
    logs = logs_service.ExportLogsServiceRequest.FromString(base64.b64decode(given["logs"]))
    logs_json = from_json(given["logsJSON"], logs_service.ExportLogsServiceRequest())
    values = metrics_service.ExportMetricsServiceRequest.FromString(base64.b64decode(given["values"]))
    values_json = from_json(given["valuesJSON"], metrics_service.ExportMetricsServiceRequest())
    response = service.ExportTraceServiceResponse.FromString(base64.b64decode(given["response"]))
    response_json = json_format.Parse(given["responseJSON"], service.ExportTraceServiceResponse())
    chance = random.Random(given["seed"])
    made = []
    for _ in range(3):
        request = random_request(chance)
        spans = [span for one in request.resource_spans for part in one.scope_spans for span in part.spans]
        made.append({
            "protobuf": text(request.SerializeToString()),
            "json": to_json(request, chance),
            "groups": groups(request, received=True),
            "rejected": sum(not is_valid(span) for span in spans),
        })
    rejected = service.ExportTraceServiceResponse()
    rejected.partial_success.rejected_spans = 3
    rejected.partial_success.error_message = "too many"
    print(json.dumps({
        "groups": groups(ours),
        "json": groups(same),
        "size": ours.ByteSize(),
        "logs": log_facts(logs),
        "logsAreSame": logs == logs_json and logs.ByteSize() == len(base64.b64decode(given["logs"])),
        "values": written_metrics(values),
        "valuesAreSame": values == values_json and values.ByteSize() == len(base64.b64decode(given["values"])),
        "again": text(ours.SerializeToString()),
        "response": [response.partial_success.rejected_spans, response.partial_success.error_message],
        "responseIsSame": response == response_json,
        "made": made,
        "metrics": made_metrics(chance),
        "rejected": text(rejected.SerializeToString()),
        "rejectedJSON": json_format.MessageToJson(rejected),
    }))


main()
