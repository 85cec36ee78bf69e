import Capabilities
import HostKit
import HostTesting
import JSON
import Registry
import Settings
import Testing

/// A feature whose check returns the result that its setting names.
private struct ChecksFeature: Feature {
    private static let found = Setting("found", "What the check finds", default: "ok")
    static let manifest = Manifest(
        id: "checks", summary: "Checks itself", version: "1.0", settings: [found.declaration])

    private let found: String

    init(_ settings: FeatureSettings) { found = settings[Self.found] }

    func register(in registry: inout RegistryBuilder) {
        registry.uses(Library("libsame") { "1.0" })
        registry.add(
            HealthCheck("checks.one", "the one thing") { [found] _ in
                switch found {
                case "warning": return .warning("it is old", mend: "renew it")
                case "failure": return .failure("it is gone", mend: "bring it back")
                case "silence":
                    // This ignores even cancellation.
                    unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                    return .ok("never")
                default: return .ok("it is well")
                }
            })
    }
}

/// Uses the same library as `ChecksFeature`.
private struct AlsoFeature: Feature {
    static let manifest = Manifest(id: "also", summary: "Uses a library", version: "1.0")

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) { registry.uses(Library("libsame") { "1.0" }) }
}

@Suite("Doctor", .timeLimit(.minutes(5)))
struct DoctorTests {
    @Test(
        "The doctor reports what it finds, how to fix it, and the exit code",
        arguments: [
            ("ok", false, "ok", nil, .done), ("warning", false, "warning", "renew it", .done),
            ("warning", true, "warning", "renew it", .failed), ("failure", false, "failed", "bring it back", .failed),
            ("silence", false, "failed", "allow more time with --limit, or find out what the check waits for", .failed),
        ] as [(String, Bool, JSON, JSON?, ExitCode)])
    func finds(found: String, isStrict: Bool, state: JSON, mend: JSON?, exit: ExitCode) async throws {
        try await withBench(ChecksFeature.self) { bench in
            bench.options.settings = ["checks.found=\(found)"]
            let result = try await bench.perform(
                "doctor", ["strict": .bool(isStrict), "limit": found == "silence" ? "50ms" : "30s"])
            let row = result.json.array?.first { $0["id"] == "checks.one" }
            #expect(row?["state"] == state)
            #expect(row?["mend"] == mend)
            #expect(result.exit == exit)
        }
    }

    @Test("The doctor always checks settings, variables, folders, features and libraries") func always() async throws {
        try await withBench { bench in
            bench.environment["MARTLET_NONSENSE"] = "1"
            let rows = try await bench.perform("doctor").json.array ?? []
            #expect(
                rows.compactMap { $0["id"]?.string } == [
                    "host.settings", "host.variables", "host.project", "host.features", "host.libraries", "host.data",
                    "host.folder.config", "host.folder.data", "host.folder.state", "host.folder.cache",
                ])
            #expect(rows.first { $0["id"] == "host.variables" }?["state"] == "warning")
            #expect(rows.first { $0["id"] == "host.variables" }?["found"]?.string?.contains("MARTLET_NONSENSE") == true)
        }
    }

    @Test("The doctor names a library once, however many features use it") func libraries() async throws {
        try await withBench(ChecksFeature.self) { bench in
            bench.features += [BuiltInFeature(AlsoFeature.self)]
            let rows = try await bench.perform("doctor").json.array ?? []
            #expect(rows.first { $0["id"] == "host.libraries" }?["found"] == "libsame 1.0")
        }
    }

    @Test("The doctor reports a folder that is not a folder") func folder() async throws {
        try await withBench { bench in
            try bench.write("", to: bench.home + "/.local/share/martlet")
            let rows = try await bench.perform("doctor").json.array ?? []
            #expect(rows.first { $0["id"] == "host.folder.data" }?["state"] == "failed")
            #expect(rows.first { $0["id"] == "host.folder.config" }?["state"] == "ok")
        }
    }
}
