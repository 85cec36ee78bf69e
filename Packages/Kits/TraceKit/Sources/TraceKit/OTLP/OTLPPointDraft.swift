import Capabilities

/// A data point of a metric while its fields are read, in any order.
struct OTLPPointDraft {
    let kind: MetricPoint.Kind
    var time: UInt64 = 0
    var attributes = OTLPAttributes()
    var flags: UInt64 = 0
    /// The value of a gauge or a sum.
    var number: Double?
    var count: UInt64 = 0
    var sum: Double?
    var least: Double?
    var most: Double?

    init(_ kind: MetricPoint.Kind) {
        self.kind = kind
        // "double sum": in a summary it is always there, and zero is left out.
        if kind == .summary { sum = 0 }
    }

    /// Whether the sender says that there is nothing to measure any more: `FLAG_NO_RECORDED_VALUE`.
    var isWithoutValue: Bool { flags & 1 != 0 }

    /// The point. Its metric says the name and the unit later.
    func finish(_ limits: OTLPLimits) throws(OTLPProblem) -> MetricPoint {
        // Attributes say which series it is, so one must not be left out.
        if attributes.dropped > 0 { throw OTLPProblem(rejection: .attributes(limits.attributes)) }
        guard time > 0 else { throw OTLPProblem(rejection: .time) }
        return MetricPoint(
            "", kind, attributes: attributes.object, time: Timestamp(microseconds: Int64(time / 1_000)),
            value: try value())
    }

    private func value() throws(OTLPProblem) -> MetricPoint.Value {
        guard !kind.isDistribution else {
            return .distribution(
                MetricPoint.Distribution(
                    count: Int(clamping: count), sum: sum?.ifFinite, least: least?.ifFinite, most: most?.ifFinite))
        }
        guard let number = number?.ifFinite else { throw OTLPProblem(rejection: .value) }
        return .number(number)
    }
}

extension MetricPoint.Kind {
    /// Whether it is about many values.
    var isDistribution: Bool {
        switch self {
        case .gauge, .sum: false
        case .histogram, .exponentialHistogram, .summary: true
        }
    }
}

extension Double {
    fileprivate var ifFinite: Double? { isFinite ? self : nil }
}
