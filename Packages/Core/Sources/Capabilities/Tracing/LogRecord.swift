public import JSON

/// How much something in a log matters.
public enum LogLevel: String, Sendable, Hashable, CaseIterable, Comparable {
    /// What helps to find a mistake.
    case debug
    /// What happened.
    case info
    /// What went wrong and was dealt with.
    case warning
    /// What went wrong.
    case error

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// An entry of the log: something that is told while the work of a trace runs, or outside of traces.
public struct LogRecord: Sendable, Hashable {
    /// When it was told.
    public var time: Timestamp
    /// How much it matters.
    public var level: LogLevel
    /// The feature or library that tells it.
    public var scope: String
    /// What it tells.
    public var message: String
    /// Facts about it.
    public var attributes: JSONObject
    /// The trace of the work; nil outside of traces.
    public var trace: TraceID?
    /// The span of the work.
    public var span: SpanID?
    /// Whether the person has been told the same, so that a log on the same terminal would repeat it.
    public var isTold = false

    /// By default it has no attributes and belongs to no trace.
    public init(
        _ level: LogLevel, _ scope: String, _ message: String, _ attributes: JSONObject = [:], at time: Timestamp,
        trace: TraceID? = nil, span: SpanID? = nil
    ) {
        (self.level, self.scope, self.message, self.attributes) = (level, scope, message, attributes)
        (self.time, self.trace, self.span) = (time, trace, span)
    }

    /// The same without secrets.
    public func redacted(by redactor: Redactor) -> LogRecord {
        var clean = self
        clean.message = redactor.redact(message)
        clean.attributes = redactor.redact(attributes)
        return clean
    }
}

/// Which entries of the log are wanted: a level for all scopes, and others for some of them.
public struct LogLevels: Sendable, Hashable {
    private let level: LogLevel?
    private let scopes: [String: LogLevel?]

    /// - Parameters:
    ///   - level: for all scopes; nil for nothing.
    ///   - scopes: levels for single scopes.
    public init(_ level: LogLevel?, scopes: [String: LogLevel?] = [:]) {
        (self.level, self.scopes) = (level, scopes)
    }

    /// Whether nothing is wanted.
    public var isOff: Bool { level == nil && scopes.values.allSatisfy { $0 == nil } }

    /// Whether an entry is wanted.
    public func includes(_ level: LogLevel, of scope: String) -> Bool {
        guard let least = scopes[scope] ?? self.level else { return false }
        return level >= least
    }

    /// What one of both includes.
    public func joined(with other: LogLevels) -> LogLevels {
        func lower(_ one: LogLevel?, _ two: LogLevel?) -> LogLevel? {
            guard let one, let two else { return one ?? two }
            return min(one, two)
        }
        var scopes: [String: LogLevel?] = [:]
        for scope in Set(self.scopes.keys).union(other.scopes.keys) {
            scopes[scope] = .some(lower(self.scopes[scope] ?? level, other.scopes[scope] ?? other.level))
        }
        return LogLevels(lower(level, other.level), scopes: scopes)
    }
}
