import JSON

extension MetricPoint.Kind {
    /// The member of a metric that has points of a kind.
    fileprivate init?(member: JSONKey) {
        switch member {
        case "gauge": self = .gauge
        case "sum": self = .sum
        case "histogram": self = .histogram
        case "exponentialHistogram": self = .exponentialHistogram
        case "summary": self = .summary
        default: return nil
        }
    }
}

extension OTLPJSONReader {
    /// Reads a metric and adds its points to the last group.
    mutating func readMetric(_ reader: inout JSONPullReader) throws {
        var (title, unit) = ("", "")
        let first = intake.points
        try reader.members { reader, key in
            switch key {
            case "name": title = try name(&reader)
            case "unit": unit = try name(&reader)
            default: if let kind = MetricPoint.Kind(member: key) { try readPoints(&reader, kind) }
            }
        }
        intake.endMetric(title, unit: unit, from: first)
    }

    private mutating func readPoints(_ reader: inout JSONPullReader, _ kind: MetricPoint.Kind) throws {
        var temporality: UInt64 = 0
        let first = intake.points
        try reader.members { reader, key in
            switch key {
            case "dataPoints":
                try reader.elements { reader in
                    if intake.takesSpan() { intake.take(try readPoint(&reader, kind)) }
                }
            case "aggregationTemporality": temporality = UInt64(clamping: try reader.whole())
            default: break
            }
        }
        intake.setTemporality(temporality, from: first)
    }

    private mutating func readPoint(
        _ reader: inout JSONPullReader, _ kind: MetricPoint.Kind
    ) throws -> OTLPPointDraft {
        var draft = OTLPPointDraft(kind)
        try reader.members { reader, key in
            switch key {
            case "timeUnixNano": draft.time = try reader.word()
            case "asDouble": draft.number = try reader.number()
            case "asInt": draft.number = Double(try reader.whole())
            case "count": draft.count = try reader.word()
            case "sum": draft.sum = try reader.number()
            case "min": draft.least = try reader.number()
            case "max": draft.most = try reader.number()
            case "flags": draft.flags = UInt64(clamping: try reader.whole())
            case "attributes": try readAttributes(&reader, &draft.attributes)
            default: break
            }
        }
        return draft
    }
}
