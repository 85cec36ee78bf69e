import Capabilities
import FileKit
import ProcessKit
import Synchronization

/// Tries which engine works on this machine, the strictest first, by running a command in it.
struct EngineSearch: Sendable {
    struct Found: Sendable {
        let engine: Engine
        /// Why those that are stricter do not work.
        let causes: [String]
    }

    /// Where systems install bubblewrap.
    var programs = ["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"].map { "\($0)/bwrap" }
    /// What the kernel says of Landlock.
    var landlock = LandlockVersion.ofKernel()
    /// How long each may take.
    var limit = Duration.seconds(10)

    /// What was found, for all of the process: what a machine allows does not change while a program runs. That there is
    /// none may be mended meanwhile.
    private static let known = Mutex<Found?>(nil)

    static func once(_ launcher: Launcher) async throws -> Found {
        if let known = known.withLock(\.self) { return known }
        do {
            let found = try await EngineSearch().run(launcher)
            if found.engine.usesScratch { ScratchFolder.removeLeftovers() }
            known.withLock { $0 = found }
            return found
        } catch let error as ProcessError {
            // Not of the machine, but of this moment.
            throw SandboxError(.unavailable, "no sandbox could be tried: \(error.message)")
        }
    }

    /// Throws `SandboxError` with all the causes where none works, and `ProcessError` where it could not be tried.
    func run(_ launcher: Launcher) async throws -> Found {
        var causes: [String] = []
        do {
            return Found(engine: .bubblewrap(try await bubblewrap(launcher)), causes: [])
        } catch let error as SandboxError {
            causes.append(error.message)
        }
        do {
            return Found(engine: .landlock(try await landlock(launcher)), causes: causes)
        } catch let error as SandboxError {
            causes.append(error.message)
        }
        throw SandboxError(
            .unavailable,
            "commands have to run in a sandbox, which does not work here (\(causes.joined(separator: "; ")));"
                + " \(SandboxError.mend)")
    }

    private func bubblewrap(_ launcher: Launcher) async throws -> BubblewrapForm {
        guard let program = programs.first(where: Files.exists) else {
            throw SandboxError(.unavailable, "bubblewrap is not installed")
        }
        var reason = ""
        for kind in BubblewrapForm.Kind.allCases {
            let form = BubblewrapForm(program: program, kind: kind)
            let probe = try BubblewrapCall(
                Self.probe, form, Sandbox(), try Sandbox().mounts(around: nil), from: "/".bytes, variables: [:])
            let done: Launcher.Completion
            do {
                done = try await launcher.run(probe.command, timeout: limit)
            } catch let error as ProcessError where [.notFound, .notExecutable].contains(error.kind) {
                throw SandboxError(.unavailable, "bubblewrap does not work: \(error.message)")
            }
            withExtendedLifetime(probe) {}
            if done.status.isSuccess { return form }
            // The first is that of the strictest form, which should work.
            if reason.isEmpty { reason = SandboxError.firstLine(of: done.errors) }
        }
        throw SandboxError(.unavailable, "bubblewrap does not work: \(reason)")
    }

    private func landlock(_ launcher: Launcher) async throws -> LandlockVersion {
        let version: LandlockVersion
        switch landlock {
        case .success(let known): version = known
        case .failure(let error): throw error
        }
        let probe = try LandlockCall(
            Self.probe, version, Sandbox(), try Sandbox().mounts(around: nil), around: nil, from: nil,
            variables: ["PATH": "/usr/bin:/bin"])
        do {
            let done = try await launcher.run(probe.command, timeout: limit)
            withExtendedLifetime(probe) {}
            guard done.status.isSuccess else {
                throw SandboxError(
                    .unavailable, "Landlock does not work: \(SandboxError.firstLine(of: done.errors))")
            }
        } catch let error as ProcessError where error.kind == .notRestricted {
            throw SandboxError(.unavailable, "Landlock does not work: \(error.message)")
        }
        return version
    }

    private static let probe = ["/bin/sh", "-c", ":"]
}

extension Engine {
    fileprivate var usesScratch: Bool { if case .landlock = self { true } else { false } }
}
