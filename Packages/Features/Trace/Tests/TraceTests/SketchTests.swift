import CoreTesting
import Glibc
import Testing

@testable import TraceStore

@Suite("Sketches of durations")
struct SketchTests {
    /// How durations may be spread, in nanoseconds.
    enum Spread: CaseIterable {
        case uniform, exponential, lognormal, twoPeaks, equal, few, tiny

        func value(_ generator: inout SeededGenerator) -> Int64 {
            let unit = Double.random(in: 0..<1, using: &generator)
            let other = Double.random(in: 0..<1, using: &generator)
            switch self {
            case .uniform: return Int64(unit * 1e10)
            case .exponential: return Int64(-log(1 - unit) * 5e6)
            case .lognormal: return Int64(exp(14 + 3 * (-2 * log(1 - unit)).squareRoot() * cos(2 * .pi * other)))
            case .twoPeaks: return Int64(other < 0.9 ? 1e6 + unit * 1e5 : 3e9 + unit * 1e9)
            case .equal: return 1_234_567
            case .few: return [0, 1, 7, .max][Int(unit * 4)]
            case .tiny: return Int64(unit * 50)
            }
        }
    }

    @Test(
        "A quantile is off by at most one percent, also after sketches were stored and merged",
        arguments: Spread.allCases)
    func quantiles(spread: Spread) {
        var generator = SeededGenerator(seed: 5)
        for count in [1, 2, 99, 5_000] {
            let values = (0..<count).map { _ in spread.value(&generator) }
            var (whole, merged) = (DurationSketch(), DurationSketch())
            var parts = [DurationSketch](repeating: DurationSketch(), count: 3)
            for (place, value) in values.enumerated() {
                whole.add(nanoseconds: value)
                parts[place % 3].add(nanoseconds: value)
            }
            for part in parts { merged.merge(part.bytes) }
            #expect(merged == whole && whole.count == count)
            let sorted = values.sorted()
            for quantile in [0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1] {
                let exact = Double(sorted[max(0, Int((quantile * Double(count)).rounded(.up)) - 1)])
                let found = whole.quantile(quantile)
                #expect(abs(found - exact) <= exact * (DurationSketch.error + 1e-9), "\(spread) \(count) \(quantile)")
            }
        }
    }

    @Test("Bytes that are no sketch do no harm, and counts do not overflow")
    func garbage() {
        var generator = SeededGenerator(seed: 6)
        for length in 0..<200 {
            var sketch = DurationSketch()
            sketch.merge((0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
            #expect(sketch.quantile(0.5).isFinite)
        }
        var sketch = DurationSketch()
        for _ in 0..<3 { sketch.merge([5] + [UInt8](repeating: 0xFF, count: 9) + [1]) }
        #expect(sketch.count == .max)
    }
}
