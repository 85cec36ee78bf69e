extension MetricPoint.Kind {
    /// The field of a metric that has points of a kind.
    fileprivate init?(field: UInt64) {
        switch field {
        case 5: self = .gauge
        case 7: self = .sum
        case 9: self = .histogram
        case 10: self = .exponentialHistogram
        case 11: self = .summary
        default: return nil
        }
    }

    /// Fields of a point that have other numbers in each kind; 0 for none.
    fileprivate var fields: (attributes: UInt64, flags: UInt64, least: UInt64, most: UInt64) {
        switch self {
        case .gauge, .sum, .summary: (7, 8, 0, 0)
        case .histogram: (9, 10, 11, 12)
        case .exponentialHistogram: (1, 10, 12, 13)
        }
    }
}

extension OTLPProtobufReader {
    /// Reads a metric and adds its points to the last group.
    mutating func readMetric(_ range: Range<Int>) throws(TraceKitError) {
        var (reader, name, unit) = (self.reader(of: range), "", "")
        let first = intake.points
        while let field = try reader.next() {
            switch field {
            case (1, .bytes(let range)): name = text(range, intake.limits.name)
            case (3, .bytes(let range)): unit = text(range, intake.limits.name)
            case (let number, .bytes(let range)):
                if let kind = MetricPoint.Kind(field: number) { try readPoints(range, kind) }
            default: break
            }
        }
        intake.endMetric(name, unit: unit, from: first)
    }

    private mutating func readPoints(_ range: Range<Int>, _ kind: MetricPoint.Kind) throws(TraceKitError) {
        var (reader, temporality): (ProtobufReader, UInt64) = (self.reader(of: range), 0)
        let first = intake.points
        while let field = try reader.next() {
            switch field {
            case (1, .bytes(let range)): if intake.takesSpan() { intake.take(try readPoint(range, kind)) }
            case (2, .varint(let number)): temporality = number
            default: break
            }
        }
        intake.setTemporality(temporality, from: first)
    }

    private mutating func readPoint(
        _ range: Range<Int>, _ kind: MetricPoint.Kind
    ) throws(TraceKitError) -> OTLPPointDraft {
        var (reader, draft) = (self.reader(of: range), OTLPPointDraft(kind))
        let (fields, isDistribution) = (kind.fields, kind.isDistribution)
        while let field = try reader.next() {
            switch field {
            case (3, .fixed64(let time)): draft.time = time
            case (4, .fixed64(let count)) where isDistribution: draft.count = count
            case (4, .fixed64(let bits)): draft.number = Double(bitPattern: bits)
            case (5, .fixed64(let bits)) where isDistribution: draft.sum = Double(bitPattern: bits)
            case (6, .fixed64(let bits)) where !isDistribution: draft.number = Double(Int64(bitPattern: bits))
            case (fields.attributes, .bytes(let range)): try readAttribute(range, &draft.attributes)
            case (fields.flags, .varint(let flags)): draft.flags = flags
            case (fields.least, .fixed64(let bits)): draft.least = Double(bitPattern: bits)
            case (fields.most, .fixed64(let bits)): draft.most = Double(bitPattern: bits)
            default: break
            }
        }
        return draft
    }
}
