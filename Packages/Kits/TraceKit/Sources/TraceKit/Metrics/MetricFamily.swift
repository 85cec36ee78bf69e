public import Capabilities

/// What a program counts or measures under one name, with its values at a time. Prometheus and OTLP get the same of it.
///
/// ```swift
/// MetricFamily(
///     "martlet_turns_total", .counter, "Turns by how they ended",
///     [.init(.whole(3), [("end", "answered")]), .init(.whole(1), [("end", "failed")])])
/// ```
public struct MetricFamily: Sendable {
    /// What the values mean.
    public enum Kind: String, Sendable {
        /// Totals since the program began.
        case counter
        /// Values that go up and down.
        case gauge
        /// Durations that were counted by length.
        case histogram
    }

    /// A counted or measured value.
    public enum Value: Sendable {
        /// A whole number.
        case whole(Int)
        /// A number.
        case number(Double)
        /// Durations.
        case histogram(Histogram)
    }

    /// A value, and what it belongs to.
    public struct Sample: Sendable {
        /// The value.
        public let value: Value
        /// What it belongs to, such as a route, in the order in which it is written.
        public let labels: [(name: String, value: String)]

        /// By default a value belongs to the whole program.
        public init(_ value: Value, _ labels: [(String, String)] = []) {
            self.value = value
            self.labels = labels.map { (name: $0.0, value: $0.1) }
        }
    }

    /// The name in both formats, such as `martlet_http_requests_total`.
    public let name: String
    /// What the values mean.
    public let kind: Kind
    /// What they tell, in a sentence without a final stop.
    public let help: String
    /// The unit as OpenTelemetry writes it, such as `s`; empty for numbers of things. Prometheus has it in the name.
    public let unit: String
    /// The values.
    public let samples: [Sample]

    /// A family with its values.
    public init(_ name: String, _ kind: Kind, _ help: String, unit: String = "", _ samples: [Sample]) {
        (self.name, self.kind, self.help, self.unit, self.samples) = (name, kind, help, unit, samples)
    }

    /// The same without secrets.
    public func redacted(by redactor: Redactor) -> MetricFamily {
        MetricFamily(
            name, kind, help, unit: unit,
            samples.map { sample in
                Sample(sample.value, sample.labels.map { ($0.name, redactor.redact($0.value)) })
            })
    }
}
