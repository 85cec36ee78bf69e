public import Capabilities

/// A kind of work: which program did what.
public struct Operation: Sendable, Hashable {
    /// The name of its spans.
    public let name: String
    /// The feature or library that did it.
    public let feature: String
    /// The program; empty if that is not known.
    public let service: String
    /// Whether other programs have sent its spans.
    public let isReceived: Bool

    /// Names of others may be of any length, and are cut.
    init(name: String, feature: String, service: String, isReceived: Bool) {
        (self.name, self.feature) = (name.cut, feature.cut)
        (self.service, self.isReceived) = (service.cut, isReceived)
    }

    /// What takes the place of all kinds of work that are too many.
    static func other(isReceived: Bool) -> Operation {
        Operation(name: "_other", feature: "", service: "", isReceived: isReceived)
    }
}

/// How long work takes, how often it fails, and what it uses.
public struct Figures: Sendable, Hashable {
    /// How often it failed.
    public private(set) var failures = 0
    /// The time of all together, in nanoseconds.
    public private(set) var sum = 0
    /// The longest time, in nanoseconds.
    public private(set) var longest = 0
    /// What its models used.
    public private(set) var usage = SpanUsage()
    /// How long it took.
    public private(set) var sketch = DurationSketch()

    /// Of no work.
    public init() {}

    /// How often it was done.
    public var count: Int { sketch.count }

    /// The time that a part of all does not exceed, off by at most one percent.
    public func quantile(_ part: Double) -> Duration {
        let nanoseconds = sketch.quantile(part).rounded()
        return .nanoseconds(nanoseconds < Double(longest) ? Int64(nanoseconds) : Int64(longest))
    }

    /// Adds a span.
    mutating func add(nanoseconds: Int64, hasFailed: Bool, _ usage: SpanUsage) {
        sketch.add(nanoseconds: nanoseconds)
        if hasFailed { failures = failures.saturatingAdd(1) }
        add(0, Int(max(0, nanoseconds)), Int(nanoseconds), usage)
    }

    /// Adds those of other work.
    mutating func merge(_ other: Figures) {
        sketch.merge(other.sketch)
        add(other.failures, other.sum, other.longest, other.usage)
    }

    /// Adds stored ones.
    mutating func merge(failures: Int, sum: Int, longest: Int, _ usage: SpanUsage, sketch bytes: [UInt8]) {
        sketch.merge(bytes)
        add(failures, sum, longest, usage)
    }

    private mutating func add(_ failures: Int, _ sum: Int, _ longest: Int, _ usage: SpanUsage) {
        self.failures = self.failures.saturatingAdd(failures)
        self.sum = self.sum.saturatingAdd(sum)
        self.longest = max(self.longest, longest)
        self.usage.add(usage)
    }
}

/// The figures of a kind of work in a period.
public struct OperationFigures: Sendable {
    /// When the period began; nil for all of it.
    public let time: Timestamp?
    /// The kind of work.
    public let operation: Operation
    /// Its figures.
    public let figures: Figures
}

/// The periods by which figures are kept.
public enum FigureWidth: String, Sendable, Choice {
    case minute, hour, day

    /// The seconds of a period.
    var seconds: Int {
        switch self {
        case .minute: 60
        case .hour: 3_600
        case .day: 86_400
        }
    }

    /// How long they are kept.
    var keep: Duration {
        switch self {
        case .minute: .seconds(2 * 86_400)
        case .hour: .seconds(40 * 86_400)
        case .day: .seconds(366 * 86_400)
        }
    }

    /// When the period began in which a time is, in seconds since 1970.
    func start(of time: Timestamp) -> Int {
        let (seconds, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return start(of: Int(seconds) - (rest < 0 ? 1 : 0))
    }

    func start(of time: Int) -> Int {
        let rest = time % seconds
        return time - (rest < 0 ? rest + seconds : rest)
    }
}

extension String {
    /// At most 200 characters of it, none of which is made of any number of others.
    fileprivate var cut: String {
        utf8.count > 200 ? String(String.UnicodeScalarView(unicodeScalars.prefix(200))) : self
    }
}
