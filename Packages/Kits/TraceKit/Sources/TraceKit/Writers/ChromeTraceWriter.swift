import Capabilities
import JSON

/// Writes Chrome's trace format, which Perfetto shows. Each resource is a process, and each trace has rows in it: a span lies in
/// the row of the span around it, or in a row where nothing overlaps it. If spans come in the order of their start, the rows are
/// the fewest.
struct ChromeTraceWriter: TraceWriter {
    /// What is remembered. A trace that comes back after it was forgotten has other rows.
    private static let most = (processes: 1_000, traces: 1_000, rows: 200, stack: 100)

    private struct Key: Hashable {
        let process: Int
        let trace: TraceID
    }

    private var processes: [TraceResource: Int] = [:]
    private var lastProcess: (resource: TraceResource, number: Int)?
    private var traces: [Key: [TraceRow]] = [:]
    /// In the order in which they came, to be forgotten in turn.
    private var order: [Key] = []
    private var oldest = 0
    private var count = (processes: 0, rows: 0)
    private var isFirst = true

    mutating func begin(into bytes: inout [UInt8]) { bytes.add("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[") }

    mutating func write(_ span: TraceSpan, of resource: TraceResource, into bytes: inout [UInt8]) {
        let process = process(of: resource, into: &bytes)
        let row = row(of: span, process, into: &bytes)
        begin("X", process, row, into: &bytes)
        bytes.add(",\"name\":")
        bytes.addJSON(span.name)
        bytes.add(",\"cat\":")
        bytes.addJSON(span.feature)
        bytes.add(",\"ts\":")
        bytes.addDecimal(span.start.microseconds)
        bytes.add(",\"dur\":")
        bytes.addThousandths(max(0, span.duration.wholeNanoseconds))
        bytes.add(",\"args\":")
        bytes.addJSON(arguments(of: span))
        bytes.add("}")
        for event in span.events {
            begin("i", process, row, into: &bytes)
            bytes.add(",\"s\":\"t\",\"name\":")
            bytes.addJSON(event.name)
            bytes.add(",\"ts\":")
            bytes.addDecimal(event.time.microseconds)
            bytes.add(",\"args\":")
            bytes.addJSON(event.attributes)
            bytes.add("}")
        }
    }

    mutating func end(into bytes: inout [UInt8]) { bytes.add("\n]}\n") }

    private func arguments(of span: TraceSpan) -> JSONObject {
        var arguments = span.attributes
        arguments["trace_id"] = .string("\(span.context.trace)")
        arguments["span_id"] = .string("\(span.context.span)")
        if let parent = span.parent { arguments["parent_id"] = .string("\(parent)") }
        if let failure = span.failure { arguments["failure"] = .string(failure) }
        return arguments
    }

    private mutating func begin(_ phase: StaticString, _ process: Int, _ row: Int, into bytes: inout [UInt8]) {
        bytes.add(isFirst ? "\n{\"ph\":\"" : ",\n{\"ph\":\"")
        isFirst = false
        bytes.add(phase)
        bytes.add("\",\"pid\":")
        bytes.addDecimal(Int64(process))
        bytes.add(",\"tid\":")
        bytes.addDecimal(Int64(row))
    }

    /// Says the name of a process or a row.
    private mutating func name(
        _ kind: StaticString, _ name: String, _ process: Int, _ row: Int, into bytes: inout [UInt8]
    ) {
        begin("M", process, row, into: &bytes)
        bytes.add(",\"name\":\"")
        bytes.add(kind)
        bytes.add("\",\"args\":{\"name\":")
        bytes.addJSON(name)
        bytes.add("}}")
    }

    // MARK: Rows

    private mutating func process(of resource: TraceResource, into bytes: inout [UInt8]) -> Int {
        if let lastProcess, lastProcess.resource == resource { return lastProcess.number }
        var number = processes[resource]
        if number == nil {
            if processes.count == Self.most.processes { processes = [:] }
            count.processes += 1
            processes[resource] = count.processes
            number = count.processes
            let pid = resource.attributes["process.pid"]?.int.map { " (\($0))" } ?? ""
            let title = resource.service.isEmpty ? "program" : resource.service
            name("process_name", title + pid, count.processes, 0, into: &bytes)
        }
        let known = number ?? 0
        lastProcess = (resource, known)
        return known
    }

    private mutating func row(of span: TraceSpan, _ process: Int, into bytes: inout [UInt8]) -> Int {
        let key = Key(process: process, trace: span.context.trace)
        if traces[key] == nil { remember(key) }
        let rows = traces[key, default: []].indices
        let found = rows.first { place in traces[key]?[place].take(span, Self.most.stack) ?? false }
        if let found, let row = traces[key]?[found] { return row.number }
        guard rows.count < Self.most.rows else { return traces[key]?.last?.number ?? 0 }
        count.rows += 1
        var row = TraceRow(number: count.rows)
        _ = row.take(span, Self.most.stack)
        traces[key, default: []].append(row)
        name("thread_name", "trace \("\(span.context.trace)".prefix(8))", process, row.number, into: &bytes)
        return row.number
    }

    private mutating func remember(_ key: Key) {
        traces[key] = []
        if order.count < Self.most.traces { return order.append(key) }
        traces[order[oldest]] = nil
        order[oldest] = key
        oldest = (oldest + 1) % order.count
    }
}

/// A row with the spans of a trace of which none overlaps another, unless it is around it.
private struct TraceRow {
    let number: Int
    private var first = Int64.max
    private var lastStart = Int64.min
    /// The spans in each other that have not ended when the last one began.
    private var stack: [(end: Int64, id: SpanID)] = []

    init(number: Int) { self.number = number }

    /// Puts a span into this row, if it fits. Times are nanoseconds, so that spans within a microsecond are told apart.
    mutating func take(_ span: TraceSpan, _ mostInStack: Int) -> Bool {
        let times = span.nanoseconds
        let (from, to) = (Int64(clamping: times.start), Int64(clamping: times.end))
        guard from >= lastStart else {
            // It comes late, and may only be before all others.
            guard to <= first else { return false }
            first = from
            return true
        }
        while let top = stack.last, top.end <= from { stack.removeLast() }
        if let top = stack.last {
            guard top.id == span.parent, top.end >= to, stack.count < mostInStack else { return false }
        }
        stack.append((to, span.context.span))
        (first, lastStart) = (min(first, from), from)
        return true
    }
}
