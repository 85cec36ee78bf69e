import CoreTesting
import Glibc

extension SeededGenerator {
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }

    /// A new seed, or the one in `JSON_SEED` to repeat a run. The seed is printed for that purpose.
    static func seed(for test: String) -> UInt64 {
        let given = unsafe getenv("JSON_SEED").flatMap { unsafe UInt64(String(cString: $0)) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("\(test): JSON_SEED=\(seed)")
        return seed
    }
}
