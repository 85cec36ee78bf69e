import Glibc
import Registry
import Settings

/// What the lab uses of the features that run beside it.
protocol Probe: Sendable {
    var name: String { get }
}

private struct NamedProbe: Probe {
    let name: String
}

/// Runs until it is cancelled, and says so when it has ended.
struct SteadyFeature: RunningFeature {
    static let manifest = Manifest(
        id: "steady", summary: "Runs as long as it may", version: "1.0", provides: [.shared((any Probe).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any Probe).self, NamedProbe(name: "steady") as any Probe)
    }

    func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws {
        report(.ok)
        let (ends, continuation) = AsyncStream<Never>.makeStream()
        for await _ in ends {}
        withExtendedLifetime(continuation) {}
        let line = "steady has stopped\n"
        _ = unsafe write(2, line, line.utf8.count)
    }
}

/// Fails as soon as it is started.
struct BrokenFeature: RunningFeature {
    struct Failure: Error, CustomStringConvertible {
        var description: String { "the lamp does not light" }
    }

    static let manifest = Manifest(
        id: "broken", summary: "Never starts", version: "1.0", provides: [.shared((any Probe).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any Probe).self, NamedProbe(name: "broken") as any Probe)
    }

    func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws {
        throw Failure()
    }
}
