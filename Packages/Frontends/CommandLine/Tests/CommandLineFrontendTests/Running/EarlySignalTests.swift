import Glibc
import HostKit
import Registry
import Settings
import Testing

@testable import CommandLineFrontend

/// Raises a signal while it is created, which is before any work begins.
private struct HitFeature: Feature {
    static let signal = Setting("signal", "What comes", default: 0)
    static let manifest = Manifest(
        id: "hit", summary: "Is hit", version: "1.0", settings: [signal.declaration])

    init(_ settings: FeatureSettings) { raise(Int32(settings[Self.signal])) }

    func register(in registry: inout RegistryBuilder) {}
}

@Suite("Signals before the work begins", .timeLimit(.minutes(5)))
struct EarlySignalTests {
    @Test("A signal that the parent ignores does not end the program") func ignored() async {
        await #expect(processExitsWith: .exitCode(0)) {
            signal(SIGHUP, SIG_IGN)
            let program = CommandLineProgram(
                name: "martlet", version: "1.0", features: [BuiltInFeature(HitFeature.self)])
            exit(await MainActor.run { program.run(["martlet", "version", "--set", "hit.signal=\(SIGHUP)"]) })
        }
    }

    @Test("Every other ending signal ends the program with its code")
    func ended() async {
        await #expect(processExitsWith: .exitCode(143)) { await EarlySignal.raise(SIGQUIT) }
        await #expect(processExitsWith: .exitCode(143)) { await EarlySignal.raise(SIGUSR1) }
        await #expect(processExitsWith: .exitCode(143)) { await EarlySignal.raise(SIGALRM) }
        await #expect(processExitsWith: .exitCode(130)) { await EarlySignal.raise(SIGINT) }
    }

    @Test("An empty argument list is an error, and not a help page")
    func wordless() async {
        await #expect(processExitsWith: .exitCode(2)) {
            let program = CommandLineProgram(name: "martlet", version: "1.0", features: [])
            exit(await MainActor.run { program.run([]) })
        }
    }
}

private enum EarlySignal {
    /// Runs on the main thread, because the other threads block signals.
    @MainActor static func raise(_ signal: Int32) {
        // The parent process may have blocked the signals.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        _ = MainLoop.prepare()
        Glibc.raise(signal)
    }
}
