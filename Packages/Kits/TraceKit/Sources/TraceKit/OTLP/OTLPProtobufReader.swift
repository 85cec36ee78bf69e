import Capabilities
import JSON

/// Reads a request in protobuf. The numbers are those of `OTLPRequest+Protobuf.swift`. A field of another wire type than it
/// should have is skipped like one that is not known, as libraries of Protocol Buffers do.
struct OTLPProtobufReader {
    private let bytes: [UInt8]
    private let signal: OTLPSignal
    var intake: SpanIntake

    init(_ bytes: [UInt8], of signal: OTLPSignal, _ limits: OTLPLimits) {
        (self.bytes, self.signal) = (bytes, signal)
        intake = SpanIntake(of: signal, limits)
    }

    mutating func readRequest() throws(TraceKitError) {
        var reader = ProtobufReader(bytes, 0..<bytes.count)
        while let field = try reader.next() {
            if case (1, .bytes(let range)) = field { try readResourceSpans(range) }
        }
    }

    private mutating func readResourceSpans(_ range: Range<Int>) throws(TraceKitError) {
        let first = intake.received.groups.count
        var (reader, attributes) = (ProtobufReader(bytes, range), OTLPAttributes())
        while let field = try reader.next() {
            switch field {
            case (1, .bytes(let range)): try readAttributes(1, range, &attributes)
            case (2, .bytes(let range)): try readScopeSpans(range)
            default: break
            }
        }
        intake.setResource(TraceResource(attributes: attributes.object), from: first)
    }

    private mutating func readScopeSpans(_ range: Range<Int>) throws(TraceKitError) {
        // The scope may come after its spans, which have its name, so it is read first.
        var (reader, scope) = (ProtobufReader(bytes, range), TraceScope(name: ""))
        while let field = try reader.next() {
            if case (1, .bytes(let range)) = field { try readScope(range, &scope) }
        }
        intake.beginGroup()
        reader = ProtobufReader(bytes, range)
        while let field = try reader.next() {
            guard case (2, .bytes(let range)) = field else { continue }
            switch signal {
            case .traces: if intake.takesSpan() { intake.take(try readSpan(range, scope.name)) }
            case .logs: if intake.takesSpan() { intake.take(try readLog(range)) }
            case .metrics: try readMetric(range)
            }
        }
        intake.endGroup(scope)
    }

    private mutating func readScope(_ range: Range<Int>, _ scope: inout TraceScope) throws(TraceKitError) {
        var (reader, attributes) = (ProtobufReader(bytes, range), OTLPAttributes())
        while let field = try reader.next() {
            switch field {
            case (1, .bytes(let range)): scope.name = text(range, intake.limits.name)
            case (2, .bytes(let range)): scope.version = range.isEmpty ? nil : text(range, intake.limits.name)
            case (3, .bytes(let range)): try readAttribute(range, &attributes)
            default: break
            }
        }
        scope.attributes = attributes.object
    }

    private mutating func readSpan(_ range: Range<Int>, _ scope: String) throws(TraceKitError) -> OTLPDraft {
        var (reader, draft) = (ProtobufReader(bytes, range), OTLPDraft())
        draft.scope = scope
        while let field = try reader.next() {
            switch field {
            case (1, .bytes(let range)): draft.trace = traceID(range)
            case (2, .bytes(let range)): draft.span = spanID(range)
            case (3, .bytes(let range)): draft.state = text(range, intake.limits.name)
            case (4, .bytes(let range)):
                draft.parent = spanID(range)
                draft.isParentWrong = !range.isEmpty && range.count != 8
            case (5, .bytes(let range)): draft.name = text(range, intake.limits.name)
            case (6, .varint(let number)): draft.kind = number
            case (7, .fixed64(let time)): draft.start = time
            case (8, .fixed64(let time)): draft.end = time
            case (9, .bytes(let range)): try readAttribute(range, &draft.attributes)
            case (10, .varint(let count)), (12, .varint(let count)), (14, .varint(let count)):
                draft.dropped += UInt64(UInt32(truncatingIfNeeded: count))
            case (11, .bytes(let range)): try readEvent(range, &draft)
            case (13, .bytes(let range)): try readLink(range, &draft)
            case (15, .bytes(let range)): try readStatus(range, &draft.status)
            case (16, .fixed32(let flags)): draft.flags = flags
            default: break
            }
        }
        return draft
    }

    private mutating func readLog(_ range: Range<Int>) throws(TraceKitError) -> OTLPLogDraft {
        var (reader, draft) = (ProtobufReader(bytes, range), OTLPLogDraft())
        while let field = try reader.next() {
            switch field {
            case (1, .fixed64(let time)): draft.time = time
            case (2, .varint(let number)): draft.severity = number
            case (5, .bytes(let range)): draft.body = try value(range, depth: 0)
            case (6, .bytes(let range)): try readAttribute(range, &draft.attributes)
            case (9, .bytes(let range)): draft.trace = traceID(range)
            case (10, .bytes(let range)): draft.span = spanID(range)
            case (11, .fixed64(let time)): draft.observed = time
            case (12, .bytes(let range)): draft.event = text(range, intake.limits.name)
            default: break
            }
        }
        return draft
    }

    private mutating func readEvent(_ range: Range<Int>, _ draft: inout OTLPDraft) throws(TraceKitError) {
        guard draft.events.count < intake.limits.events, intake.takesValue() else { return draft.dropped += 1 }
        var (reader, attributes) = (ProtobufReader(bytes, range), OTLPAttributes())
        var (name, time): (String, UInt64) = ("", 0)
        while let field = try reader.next() {
            switch field {
            case (1, .fixed64(let number)): time = number
            case (2, .bytes(let range)): name = text(range, intake.limits.name)
            case (3, .bytes(let range)): try readAttribute(range, &attributes)
            case (4, .varint(let count)): draft.dropped += UInt64(UInt32(truncatingIfNeeded: count))
            default: break
            }
        }
        draft.dropped += UInt64(attributes.dropped)
        draft.events.append(
            TraceSpan.Event(
                name: name, time: Timestamp(microseconds: Int64(time / 1_000)), attributes: attributes.object))
    }

    private mutating func readLink(_ range: Range<Int>, _ draft: inout OTLPDraft) throws(TraceKitError) {
        guard draft.links.count < intake.limits.events, intake.takesValue() else { return draft.dropped += 1 }
        var (reader, attributes) = (ProtobufReader(bytes, range), OTLPAttributes())
        var (trace, span): (TraceID?, SpanID?) = (nil, nil)
        var (state, flags): (String, UInt32) = ("", 0)
        while let field = try reader.next() {
            switch field {
            case (1, .bytes(let range)): trace = traceID(range)
            case (2, .bytes(let range)): span = spanID(range)
            case (3, .bytes(let range)): state = text(range, intake.limits.name)
            case (4, .bytes(let range)): try readAttribute(range, &attributes)
            case (5, .varint(let count)): draft.dropped += UInt64(UInt32(truncatingIfNeeded: count))
            case (6, .fixed32(let number)): flags = number
            default: break
            }
        }
        draft.addLink(trace, span, flags, state, attributes)
    }

    private func readStatus(_ range: Range<Int>, _ status: inout OTLPStatus) throws(TraceKitError) {
        var reader = ProtobufReader(bytes, range)
        while let field = try reader.next() {
            switch field {
            case (2, .bytes(let range)): status.message = text(range, intake.limits.text)
            case (3, .varint(let code)): status.code = Int(clamping: code)
            default: break
            }
        }
    }
}

// MARK: Values

extension OTLPProtobufReader {
    /// Reads the attributes of a message that has them in this field.
    private mutating func readAttributes(
        _ number: UInt64, _ range: Range<Int>, _ attributes: inout OTLPAttributes
    ) throws(TraceKitError) {
        var reader = ProtobufReader(bytes, range)
        while let field = try reader.next() {
            if case (number, .bytes(let range)) = field { try readAttribute(range, &attributes) }
        }
    }

    mutating func readAttribute(
        _ range: Range<Int>, _ attributes: inout OTLPAttributes
    ) throws(TraceKitError) {
        guard attributes.hasRoom(intake.limits) else { return }
        if let (key, value) = try pair(range, depth: 0) { attributes.object[key] = value }
    }

    private mutating func pair(_ range: Range<Int>, depth: Int) throws(TraceKitError) -> (String, JSON)? {
        guard intake.takesValue() else { return nil }
        var (reader, key, value) = (ProtobufReader(bytes, range), "", JSON.null)
        while let field = try reader.next() {
            switch field {
            case (1, .bytes(let range)): key = text(range, intake.limits.name)
            case (2, .bytes(let range)): value = try self.value(range, depth: depth)
            default: break
            }
        }
        return (key, value)
    }

    /// Reads an `AnyValue`.
    private mutating func value(_ range: Range<Int>, depth: Int) throws(TraceKitError) -> JSON {
        var (reader, value) = (ProtobufReader(bytes, range), JSON.null)
        while let field = try reader.next() {
            switch field {
            case (1, .bytes(let range)): value = .string(text(range, intake.limits.text))
            case (2, .varint(let number)): value = .bool(number != 0)
            case (3, .varint(let number)): value = .int(Int(truncatingIfNeeded: number))
            case (4, .fixed64(let bits)): value = JSON(number: Double(bitPattern: bits))
            case (5, .bytes(let range)): value = try array(range, depth: depth + 1)
            case (6, .bytes(let range)): value = try object(range, depth: depth + 1)
            case (7, .bytes(let range)):
                value = .string(Base64.encode(Array(bytes[range.prefix(intake.limits.text / 4 * 3)])))
            default: break
            }
        }
        return value
    }

    private mutating func array(_ range: Range<Int>, depth: Int) throws(TraceKitError) -> JSON {
        guard intake.takes(depth: depth) else { return .null }
        var (reader, values): (ProtobufReader, [JSON]) = (ProtobufReader(bytes, range), [])
        while let field = try reader.next() {
            guard case (1, .bytes(let range)) = field, intake.takesValue() else { continue }
            values.append(try value(range, depth: depth))
        }
        return .array(values)
    }

    private mutating func object(_ range: Range<Int>, depth: Int) throws(TraceKitError) -> JSON {
        guard intake.takes(depth: depth) else { return .null }
        var (reader, members): (ProtobufReader, JSONObject) = (ProtobufReader(bytes, range), [:])
        while let field = try reader.next() {
            guard case (1, .bytes(let range)) = field else { continue }
            if let (key, value) = try pair(range, depth: depth) { members[key] = value }
        }
        return .object(members)
    }

    /// The fields of a message.
    func reader(of range: Range<Int>) -> ProtobufReader { ProtobufReader(bytes, range) }

    func text(_ range: Range<Int>, _ limit: Int) -> String {
        // What is not UTF-8 becomes longer, so that the limit is looked at after that.
        intake.shortened(String(decoding: bytes[range.prefix(limit + 4)], as: UTF8.self), to: limit)
    }

    private func traceID(_ range: Range<Int>) -> TraceID? {
        guard range.count == 16 else { return nil }
        return TraceID(words: (word(range.lowerBound), word(range.lowerBound + 8)))
    }

    private func spanID(_ range: Range<Int>) -> SpanID? {
        range.count == 8 ? SpanID(word: word(range.lowerBound)) : nil
    }

    private func word(_ place: Int) -> UInt64 { bytes[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) } }
}

extension OTLPDraft {
    /// Adds a link, unless its ids are none.
    mutating func addLink(
        _ trace: TraceID?, _ span: SpanID?, _ flags: UInt32, _ state: String, _ attributes: OTLPAttributes
    ) {
        guard let trace, let span else { return dropped += 1 }
        dropped += UInt64(attributes.dropped)
        links.append(
            TraceSpan.Link(to: Self.context(trace, span, flags, state), attributes: attributes.object))
    }
}

extension JSON {
    /// A number; one that JSON does not have is a text.
    init(number: Double) { self = number.isFinite ? .double(number) : .string(number.word) }
}
