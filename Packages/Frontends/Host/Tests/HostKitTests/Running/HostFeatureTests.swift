import CoreTesting
import HostKit
import HostTesting
import JSON
import Testing

@Suite("HostFeature", .timeLimit(.minutes(5)))
struct HostFeatureTests {
    @Test("The feature keeps the rules of every feature") func conforms() async {
        await #expect(processExitsWith: .success) {
            try await withBench { bench in
                let violations = try await FeatureConformance.violations(
                    of: HostFeature.self, with: [StoreFeature.self], in: bench.home,
                    settings: "{store: {folder: '\(bench.home)/words'}}",
                    doing: [
                        "config.set": ["key": "features.host", "value": "true"], "config.get": ["key": "profile"],
                        "config.unset": ["key": "profile"], "config.setting": ["key": "profile"],
                        "data.backup": ["folder": .string("\(bench.home)/copy")],
                        "data.compact": [:],
                    ],
                    texts: Dictionary(
                        uniqueKeysWithValues: ["show", "get", "set", "unset"].map {
                            ("config.\($0).key", "the name of a setting")
                        }))
                #expect(violations.isEmpty, "\(violations)")
            }
        }
    }
}
