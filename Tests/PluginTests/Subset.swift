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

    /// None, one with a C library, one without, and all; in the full matrix also each alone, and five by chance.
    static func matrix() throws -> [Subset] {
        let all = try everything().features
        var chosen = [[], ["Packer"], ["Weather"], all]
        if isFull {
            let seed = Environment.snapshot()["MARTLET_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...999_999)
            print("The matrix is drawn with MARTLET_TEST_SEED=\(seed)")
            var numbers = SplitMix(state: seed)
            chosen += all.map { [$0] }
            chosen += (1...5).map { _ in all.filter { _ in Bool.random(using: &numbers) } }
        }
        var seen: Set<[String]> = []
        return chosen.filter { seen.insert($0).inserted }.map { Subset(features: $0) }
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
