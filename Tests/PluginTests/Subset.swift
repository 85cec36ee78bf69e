import FileKit
import Testing
import WorkspaceSupport

/// The features of one build.
struct Subset: CustomTestStringConvertible {
    let features: [String]
    var testDescription: String { features.isEmpty ? "no feature" : features.joined(separator: "+") }

    /// The fixtures and what the plugin wrote, on top of the real features.
    static let added = ["Beacon", "Courier", "Packer", "Station", "Weather"]

    /// Whether every build of the matrix is wanted, or a sample of them.
    static var isFull: Bool { Environment.snapshot()["MARTLET_TEST_MATRIX"] == "full" }

    /// Every feature that a clone has.
    static func everything() throws -> Subset {
        Subset(features: (try Workspace.current.features() + added).sorted())
    }

    /// None, one with a C library and one without; in the full matrix also all, each alone, and five by chance. What has all is otherwise
    /// the released program.
    static func matrix() throws -> [Subset] {
        var chosen = [[], ["Packer"], ["Weather"]]
        if isFull {
            let all = try everything().features
            let seed = Environment.snapshot()["MARTLET_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...999_999)
            print("The matrix is drawn with MARTLET_TEST_SEED=\(seed)")
            var numbers = SplitMix(state: seed)
            chosen += [all] + all.map { [$0] }
            chosen += (1...5).map { _ in all.filter { _ in Bool.random(using: &numbers) } }
        }
        var seen: Set<[String]> = []
        return chosen.filter { seen.insert($0).inserted }.map { Subset(features: $0) }
    }
}

extension Subset {
    /// All of these cases in the full matrix, and a few by chance otherwise, as each begins a program of SwiftPM.
    static func some<Case>(of cases: [Case]) -> [Case] {
        isFull ? cases : Array(cases.shuffled().prefix(4))
    }
}

/// SplitMix64, so that a seed gives the same builds everywhere.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
