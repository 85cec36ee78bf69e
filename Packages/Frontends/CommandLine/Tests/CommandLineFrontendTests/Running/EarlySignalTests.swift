import Glibc
import HostKit
import Registry
import Settings
import Testing

@testable import CommandLineFrontend

/// Gets a signal while it is made, which is before any work begins.
private struct HitFeature: Feature {
    static let signal = Setting("signal", "What comes", default: 0)
    static let manifest = Manifest(
        id: "hit", summary: "Is hit", version: "1.0", settings: [signal.declaration])

    init(_ settings: FeatureSettings) { raise(Int32(settings[Self.signal])) }

    func register(in registry: inout RegistryBuilder) {}
}

@Suite("A signal before the work begins", .timeLimit(.minutes(5)))
struct EarlySignalTests {
    @Test("that the parent ignores does not end it") func ignored() async {
        await #expect(processExitsWith: .exitCode(0)) {
            signal(SIGHUP, SIG_IGN)
            let program = CommandLineProgram(
                name: "martlet", version: "1.0", features: [BuiltInFeature(HitFeature.self)])
            exit(await MainActor.run { program.run(["martlet", "version", "--set", "hit.signal=\(SIGHUP)"]) })
        }
    }

    @Test("is none when there are no words, not even the program's own, which is an error and no help page")
    func wordless() async {
        await #expect(processExitsWith: .exitCode(2)) {
            let program = CommandLineProgram(name: "martlet", version: "1.0", features: [])
            exit(await MainActor.run { program.run([]) })
        }
    }
}
