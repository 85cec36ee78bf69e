public import Capabilities
public import JSON

/// What a program measured, at a time: a data point of a metric.
public struct MetricPoint: Sendable, Hashable {
    /// What a metric is.
    public enum Kind: String, Sendable, CaseIterable {
        /// A value that goes up and down.
        case gauge
        /// A total.
        case sum
        /// Values that were counted by size.
        case histogram
        /// The same in steps that grow.
        case exponentialHistogram = "exponential_histogram"
        /// Values of which the sender has made quantiles.
        case summary
    }

    /// What was measured. Numbers are finite; an integer beyond 53 bits is rounded.
    public enum Value: Sendable, Hashable {
        /// The value of a gauge or a sum.
        case number(Double)
        /// The summary of many values.
        case distribution(Distribution)
    }

    /// A summary of many values.
    public struct Distribution: Sendable, Hashable {
        /// How many they are.
        public var count: Int
        /// All of them added up, if the sender says it.
        public var sum: Double?
        /// The smallest one, if the sender says it.
        public var least: Double?
        /// The largest one, if the sender says it.
        public var most: Double?

        /// What is known about as many values.
        public init(count: Int, sum: Double? = nil, least: Double? = nil, most: Double? = nil) {
            (self.count, self.sum, self.least, self.most) = (count, sum, least, most)
        }
    }

    /// The name of the metric, such as `http.server.request.duration`.
    public var name: String
    /// The unit in which it is measured, such as `s` or `By`; empty if it is not told.
    public var unit: String
    /// What the metric is.
    public var kind: Kind
    /// Whether the value is what came since the point before, and not since the program began.
    public var isDelta: Bool
    /// The library that measures it.
    public var scope: String
    /// What the value belongs to, such as a route.
    public var attributes: JSONObject
    /// When it was measured.
    public var time: Timestamp
    /// What was measured.
    public var value: Value

    /// A point of a metric.
    public init(
        _ name: String, unit: String = "", _ kind: Kind, isDelta: Bool = false, scope: String = "",
        attributes: JSONObject = [:], time: Timestamp, value: Value
    ) {
        (self.name, self.unit, self.kind, self.isDelta, self.scope) = (name, unit, kind, isDelta, scope)
        (self.attributes, self.time, self.value) = (attributes, time, value)
    }
}
