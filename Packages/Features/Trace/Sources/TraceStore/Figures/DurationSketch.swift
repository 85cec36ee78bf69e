import Glibc

/// How many durations there were of each length, in steps of two percent, so that a quantile is off by at most one percent and
/// the memory does not grow with their number. Two are merged by adding their counts (DDSketch).
public struct DurationSketch: Sendable, Hashable {
    /// The relative error of a quantile.
    public static let error = 0.01

    /// How many durations there are.
    public private(set) var count = 0
    /// By step; 0 is for those under a nanosecond.
    private var counts: [Int: Int] = [:]

    private static let base = (1 + error) / (1 - error)
    private static let logarithm = log(base)

    /// No durations.
    public init() {}

    /// Adds a duration.
    public mutating func add(nanoseconds: Int64) {
        counts[Self.step(nanoseconds), default: 0] += 1
        count += 1
    }

    /// Adds those of another one.
    public mutating func merge(_ other: DurationSketch) {
        for (step, number) in other.counts { add(number, at: step) }
    }

    /// Stored numbers come from outside, so that none may overflow.
    private mutating func add(_ number: Int, at step: Int) {
        counts[step] = (counts[step] ?? 0).saturatingAdd(number)
        count = count.saturatingAdd(number)
    }

    /// The duration that a part of all does not exceed, in nanoseconds; zero if there are none.
    public func quantile(_ part: Double) -> Double {
        let rank = max(1, (part * Double(count)).rounded(.up))
        var below = 0.0
        for (step, number) in counts.sorted(by: { $0.key < $1.key }) {
            below += Double(number)
            if below >= rank { return Self.nanoseconds(of: step) }
        }
        return 0
    }

    private static func step(_ nanoseconds: Int64) -> Int {
        nanoseconds < 1 ? 0 : Int((log(Double(nanoseconds)) / logarithm).rounded(.up)) + 1
    }

    /// The value whose relative distance to both ends of a step is the same.
    private static func nanoseconds(of step: Int) -> Double {
        step == 0 ? 0 : 2 * exp(Double(step - 1) * logarithm) / (base + 1)
    }
}

extension DurationSketch {
    /// The steps in order, each as the distance from the one before and its count, in groups of seven bits.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        var last = 0
        for (step, number) in counts.sorted(by: { $0.key < $1.key }) {
            bytes.addVarint(UInt64(step - last))
            bytes.addVarint(UInt64(number))
            last = step
        }
        return bytes
    }

    /// Adds what `bytes` has written. Other bytes add something else, but do no harm.
    mutating func merge(_ bytes: [UInt8]) {
        var (place, step) = (bytes.startIndex, 0)
        while place < bytes.endIndex {
            let (distance, number) = (bytes.varint(at: &place), bytes.varint(at: &place))
            // No duration has a step beyond this.
            guard distance < 10_000, step < 10_000 else { return }
            step += Int(distance)
            add(Int(clamping: number), at: step)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func addVarint(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    fileprivate func varint(at place: inout Int) -> UInt64 {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while place < endIndex {
            let byte = self[place]
            place += 1
            if shift < 64 { number |= UInt64(byte & 0x7F) << shift }
            shift += 7
            if byte < 0x80 { break }
        }
        return number
    }
}

extension Int {
    /// The sum, or the largest number there is.
    func saturatingAdd(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
