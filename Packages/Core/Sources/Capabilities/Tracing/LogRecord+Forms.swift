public import JSON

extension LogRecord {
    /// A span that has ended: `info` for work that began in its program, such as a command or a request to a server, `debug` for
    /// what was done in it. If it failed, they are `error` and `warning`.
    public init(_ span: TraceSpan) {
        let hasBegunHere = span.parent == nil || span.isParentRemote || span.kind == .server
        let level = Self.level(hasBegunHere: hasBegunHere, hasFailed: span.failure != nil)
        var attributes = span.attributes
        attributes["duration_ms"] = .double((span.duration / .milliseconds(1) * 1000).rounded() / 1000)
        if let failure = span.failure { attributes["error.type"] = .string(failure) }
        self.init(
            level, span.feature, span.name, attributes, at: span.start + span.duration, trace: span.context.trace,
            span: span.context.span)
    }

    /// The level of a span.
    static func level(hasBegunHere: Bool, hasFailed: Bool) -> LogLevel {
        hasBegunHere ? hasFailed ? .error : .info : hasFailed ? .warning : .debug
    }

    /// A line of JSON of a log.
    public var json: JSONObject {
        var object: JSONObject = [
            "time": time.json, "level": .string(level.rawValue), "scope": .string(scope), "message": .string(message),
        ]
        object["trace_id"] = trace.map { .string("\($0)") }
        object["span_id"] = span.map { .string("\($0)") }
        if !attributes.isEmpty { object["attributes"] = .object(attributes) }
        return object
    }

    /// One line for a person: time in UTC, level, scope, message, facts. Nothing in it can control a terminal.
    ///
    /// - Parameter isForJournal: whether the line begins with systemd's priority instead of the time and the level.
    public func text(isForJournal: Bool = false) -> String {
        var words = isForJournal ? ["<\(level.priority)>\(scope):"] : [clock, level.rawValue, "\(scope):"]
        words.append(PlainText.escape(message))
        for (name, value) in attributes {
            words.append("\(PlainText.escape(name))=\(PlainText.escape(value.string ?? value.text()))")
        }
        if isForJournal, let trace { words.append("trace=\(trace)") }
        return words.joined(separator: " ")
    }

    /// The time of day, with milliseconds.
    private var clock: String {
        func digits(_ number: Int64, _ count: Int) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day: Int64 = 86_400_000
        let all = ((time.microseconds / 1000) % day + day) % day
        return "\(digits(all / 3_600_000, 2)):\(digits(all / 60_000 % 60, 2)):\(digits(all / 1000 % 60, 2))."
            + digits(all % 1000, 3)
    }
}

extension SpanRecord {
    /// How much it matters in a log.
    public var level: LogLevel {
        LogRecord.level(hasBegunHere: isLocalRoot || kind == .server, hasFailed: failure != nil)
    }
}

extension LogLevel {
    /// As in `sd-daemon(3)`.
    fileprivate var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }
}
