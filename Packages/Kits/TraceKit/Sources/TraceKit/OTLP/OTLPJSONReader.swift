import Capabilities
import JSON

/// Reads a request in JSON. Members that are null are absent, and those that are not known are skipped.
struct OTLPJSONReader {
    private let signal: OTLPSignal
    var intake: SpanIntake

    init(of signal: OTLPSignal, _ limits: OTLPLimits) {
        self.signal = signal
        intake = SpanIntake(of: signal, limits)
    }

    mutating func readRequest(_ reader: inout JSONPullReader) throws {
        try reader.object { reader, key in
            if key == signal.members.resources { try reader.elements { try readResourceSpans(&$0) } }
        }
    }

    private mutating func readResourceSpans(_ reader: inout JSONPullReader) throws {
        let first = intake.received.groups.count
        var attributes = OTLPAttributes()
        try reader.members { reader, key in
            switch key {
            case "resource":
                try reader.members { reader, key in
                    if key == "attributes" { try readAttributes(&reader, &attributes) }
                }
            case signal.members.scopes: try reader.elements { try readScopeSpans(&$0) }
            default: break
            }
        }
        intake.setResource(TraceResource(attributes: attributes.object), from: first)
    }

    private mutating func readScopeSpans(_ reader: inout JSONPullReader) throws {
        var scope = TraceScope(name: "")
        intake.beginGroup()
        try reader.members { reader, key in
            switch key {
            case "scope": try readScope(&reader, &scope)
            case signal.members.items:
                try reader.elements { reader in
                    switch signal {
                    case .traces: if intake.takesSpan() { intake.take(try readSpan(&reader, scope.name)) }
                    case .logs: if intake.takesSpan() { intake.take(try readLog(&reader)) }
                    case .metrics: try readMetric(&reader)
                    }
                }
            default: break
            }
        }
        intake.endGroup(scope)
    }

    private mutating func readScope(_ reader: inout JSONPullReader, _ scope: inout TraceScope) throws {
        var attributes = OTLPAttributes()
        try reader.members { reader, key in
            switch key {
            case "name": scope.name = try name(&reader)
            case "version":
                let version = try name(&reader)
                scope.version = version.isEmpty ? nil : version
            case "attributes": try readAttributes(&reader, &attributes)
            default: break
            }
        }
        scope.attributes = attributes.object
    }

    private mutating func readSpan(_ reader: inout JSONPullReader, _ scope: String) throws -> OTLPDraft {
        var draft = OTLPDraft()
        draft.scope = scope
        try reader.members { reader, key in
            switch key {
            case "traceId": draft.trace = TraceID(digits: try reader.string())
            case "spanId": draft.span = SpanID(digits: try reader.string())
            case "traceState": draft.state = try name(&reader)
            case "parentSpanId":
                let digits = try reader.string()
                draft.parent = SpanID(digits: digits)
                // Zeros say that there is no parent.
                draft.isParentWrong =
                    !digits.isEmpty && draft.parent == nil
                    && !(digits.utf8.count == 16 && digits.utf8.allSatisfy { $0 == UInt8(ascii: "0") })
            case "name": draft.name = try name(&reader)
            case "kind": draft.kind = UInt64(clamping: try reader.whole())
            case "startTimeUnixNano": draft.start = try reader.word()
            case "endTimeUnixNano": draft.end = try reader.word()
            case "attributes": try readAttributes(&reader, &draft.attributes)
            case "droppedAttributesCount", "droppedEventsCount", "droppedLinksCount":
                draft.dropped += UInt64(UInt32(clamping: try reader.whole()))
            case "events": try reader.elements { try readEvent(&$0, &draft) }
            case "links": try reader.elements { try readLink(&$0, &draft) }
            case "status": try readStatus(&reader, &draft.status)
            case "flags": draft.flags = UInt32(clamping: try reader.whole())
            default: break
            }
        }
        return draft
    }

    private mutating func readLog(_ reader: inout JSONPullReader) throws -> OTLPLogDraft {
        var draft = OTLPLogDraft()
        try reader.members { reader, key in
            switch key {
            case "timeUnixNano": draft.time = try reader.word()
            case "observedTimeUnixNano": draft.observed = try reader.word()
            case "severityNumber": draft.severity = UInt64(clamping: try reader.whole())
            case "body": draft.body = try value(&reader, depth: 0)
            case "eventName": draft.event = try name(&reader)
            case "attributes": try readAttributes(&reader, &draft.attributes)
            case "traceId": draft.trace = TraceID(digits: try reader.string())
            case "spanId": draft.span = SpanID(digits: try reader.string())
            default: break
            }
        }
        return draft
    }

    private mutating func readEvent(_ reader: inout JSONPullReader, _ draft: inout OTLPDraft) throws {
        guard draft.events.count < intake.limits.events, intake.takesValue() else { return draft.dropped += 1 }
        var attributes = OTLPAttributes()
        var (title, time, dropped): (String, UInt64, UInt64) = ("", 0, 0)
        try reader.members { reader, key in
            switch key {
            case "timeUnixNano": time = try reader.word()
            case "name": title = try name(&reader)
            case "attributes": try readAttributes(&reader, &attributes)
            case "droppedAttributesCount": dropped = UInt64(UInt32(clamping: try reader.whole()))
            default: break
            }
        }
        draft.dropped += dropped + UInt64(attributes.dropped)
        draft.events.append(
            TraceSpan.Event(
                name: title, time: Timestamp(microseconds: Int64(time / 1_000)), attributes: attributes.object))
    }

    private mutating func readLink(_ reader: inout JSONPullReader, _ draft: inout OTLPDraft) throws {
        guard draft.links.count < intake.limits.events, intake.takesValue() else { return draft.dropped += 1 }
        var attributes = OTLPAttributes()
        var (trace, span): (TraceID?, SpanID?) = (nil, nil)
        var (state, flags, dropped): (String, UInt32, UInt64) = ("", 0, 0)
        try reader.members { reader, key in
            switch key {
            case "traceId": trace = TraceID(digits: try reader.string())
            case "spanId": span = SpanID(digits: try reader.string())
            case "traceState": state = try name(&reader)
            case "attributes": try readAttributes(&reader, &attributes)
            case "droppedAttributesCount": dropped = UInt64(UInt32(clamping: try reader.whole()))
            case "flags": flags = UInt32(clamping: try reader.whole())
            default: break
            }
        }
        draft.dropped += dropped
        draft.addLink(trace, span, flags, state, attributes)
    }

    private func readStatus(_ reader: inout JSONPullReader, _ status: inout OTLPStatus) throws {
        try reader.members { reader, key in
            switch key {
            case "message": status.message = intake.shortened(try reader.string(), to: intake.limits.text)
            case "code": status.code = try reader.whole()
            default: break
            }
        }
    }

    func name(_ reader: inout JSONPullReader) throws -> String {
        intake.shortened(try reader.string(), to: intake.limits.name)
    }
}

// MARK: Values

extension OTLPJSONReader {
    mutating func readAttributes(_ reader: inout JSONPullReader, _ attributes: inout OTLPAttributes) throws {
        try reader.elements { reader in
            guard attributes.hasRoom(intake.limits) else { return }
            if let (key, value) = try pair(&reader, depth: 0) { attributes.object[key] = value }
        }
    }

    private mutating func pair(_ reader: inout JSONPullReader, depth: Int) throws -> (String, JSON)? {
        guard intake.takesValue() else { return nil }
        var (title, result) = ("", JSON.null)
        try reader.members { reader, key in
            switch key {
            case "key": title = try name(&reader)
            case "value": result = try value(&reader, depth: depth)
            default: break
            }
        }
        return (title, result)
    }

    /// Reads an `AnyValue`.
    private mutating func value(_ reader: inout JSONPullReader, depth: Int) throws -> JSON {
        var result = JSON.null
        try reader.members { reader, key in
            switch key {
            case "stringValue", "bytesValue":
                result = .string(intake.shortened(try reader.string(), to: intake.limits.text))
            case "boolValue": result = .bool(try reader.bool())
            case "intValue": result = .int(try reader.whole())
            case "doubleValue": result = JSON(number: try reader.number())
            case "arrayValue": result = try array(&reader, depth: depth + 1)
            case "kvlistValue": result = try object(&reader, depth: depth + 1)
            default: break
            }
        }
        return result
    }

    private mutating func array(_ reader: inout JSONPullReader, depth: Int) throws -> JSON {
        guard intake.takes(depth: depth) else { return .null }
        var values: [JSON] = []
        try reader.members { reader, key in
            guard key == "values" else { return }
            try reader.elements { reader in
                if intake.takesValue() { values.append(try value(&reader, depth: depth)) }
            }
        }
        return .array(values)
    }

    private mutating func object(_ reader: inout JSONPullReader, depth: Int) throws -> JSON {
        guard intake.takes(depth: depth) else { return .null }
        var members: JSONObject = [:]
        try reader.members { reader, key in
            guard key == "values" else { return }
            try reader.elements { reader in
                if let (key, value) = try pair(&reader, depth: depth) { members[key] = value }
            }
        }
        return .object(members)
    }
}

extension JSONPullReader {
    /// Steps through an object, but for members that are null.
    mutating func members(_ body: (inout JSONPullReader, JSONKey) throws -> Void) throws {
        if isNull { return }
        try object { reader, key in
            if !reader.isNull { try body(&reader, key) }
        }
    }

    /// Steps through an array, or none.
    mutating func elements(_ body: (inout JSONPullReader) throws -> Void) throws {
        if !isNull { try array(body) }
    }

    private func failure(_ words: String) -> JSONError { JSONError(.type, words, offset: offset) }

    /// A number of 64 bits, as a number or as a text.
    mutating func whole() throws -> Int {
        guard kind == .string else { return try int() }
        let text = try string()
        guard let number = Int(text) else { throw failure("expected a 64-bit integer, found another text") }
        return number
    }

    /// The same without a sign.
    mutating func word() throws -> UInt64 {
        guard kind == .string else { return UInt64(clamping: try int()) }
        let text = try string()
        guard let number = UInt64(text) else {
            throw failure("expected a 64-bit number without a sign, found another text")
        }
        return number
    }

    /// A number, or the text for one that JSON does not have.
    mutating func number() throws -> Double {
        guard kind == .string else { return try double() }
        switch try string() {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        case let text:
            guard let number = Double(text) else { throw failure("expected a number, found another text") }
            return number
        }
    }
}

extension TraceID {
    /// Reads 32 digits in either case; nil for anything else, and for zero.
    init?(digits: String) {
        let digits = digits.utf8Span.span
        guard digits.count == 32, let high = UInt64(hexadecimal: digits.extracting(..<16)),
            let low = UInt64(hexadecimal: digits.extracting(16...))
        else { return nil }
        self.init(words: (high, low))
    }
}

extension SpanID {
    /// Reads 16 digits in either case; nil for anything else, and for zero.
    init?(digits: String) {
        let digits = digits.utf8Span.span
        guard digits.count == 16, let word = UInt64(hexadecimal: digits) else { return nil }
        self.init(word: word)
    }
}
