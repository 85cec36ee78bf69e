import CSandboxKit
import Capabilities
public import FileKit
public import ProcessKit
import Synchronization

/// Starts commands in a sandbox, with the strictest engine that works on this machine.
///
/// A command never runs without a sandbox. If no engine works, preparing a command throws the reason.
public final class SandboxEngine: Sendable {
    private let launcher: Launcher
    private let variables: [String: String]
    /// Nil for the strictest working engine.
    private let forced: Engine?

    /// - Parameter variables: the environment of the commands.
    public convenience init(launcher: Launcher, variables: [String: String]) {
        self.init(launcher: launcher, variables: variables, by: nil)
    }

    init(launcher: Launcher, variables: [String: String], by engine: Engine?) {
        (self.launcher, self.variables, self.forced) = (launcher, variables, engine)
    }

    /// Prepares a command that runs in a sandbox around a folder.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments, as they are called in the sandbox.
    ///   - folder: the writable folder.
    ///   - start: the working folder, inside the writable one.
    ///   - added: further variables, unless the environment has them.
    public func command(
        _ words: [String], in sandbox: Sandbox, around folder: Folder, from start: Folder,
        adding added: [String: String] = [:]
    ) async throws -> SandboxedCommand {
        let variables = variables.merging(added) { given, _ in given }
        let engine = try await engine()
        let place = AbsolutePath(bytes: folder.location)
        // Checked first, so that nothing is created in a rejected folder.
        try sandbox.check(place)
        switch engine {
        case .bubblewrap(let form):
            let guarded = try GuardedNames(in: folder, at: place, for: sandbox, absent: .stubs)
            let mounts = try sandbox.showing(guarded).mounts(around: place)
            let call = try BubblewrapCall(
                words, form, sandbox, mounts + guarded.mounts, from: start.location, variables: variables)
            return SandboxedCommand(.bubblewrap(call), guarded)
        case .landlock(let version):
            guard sandbox.emptied.isEmpty else { throw SandboxError.needsBubblewrap(words[0]) }
            let guarded = try GuardedNames(in: folder, at: place, for: sandbox, absent: .sealed)
            let mounts = try sandbox.showing(guarded).mounts(around: place)
            let call = try LandlockCall(
                words, version, sandbox, mounts + guarded.mounts, around: folder, from: start, variables: variables)
            return SandboxedCommand(.landlock(call), guarded)
        }
    }

    /// The kind of sandbox on this machine. Throws `SandboxError` if there is none.
    public func support() async throws -> SandboxSupport {
        if let forced { return SandboxSupport(forced, nil) }
        let found = try await EngineSearch.once(launcher)
        return SandboxSupport(found.engine, found.causes.first)
    }

    private func engine() async throws -> Engine {
        if let forced { return forced }
        return try await EngineSearch.once(launcher).engine
    }

    /// The version of libseccomp.
    public static var filterLibraryVersion: String {
        var (major, minor, micro): (UInt32, UInt32, UInt32) = (0, 0, 0)
        unsafe sandboxkit_library_version(&major, &minor, &micro)
        return "\(major).\(minor).\(micro)"
    }
}

/// What creates a sandbox.
enum Engine: Hashable {
    case bubblewrap(BubblewrapForm)
    case landlock(LandlockVersion)
}

/// The kind of sandbox on a machine.
public struct SandboxSupport: Sendable, Hashable {
    /// What restricts a command.
    public enum Kind: String, Sendable {
        /// A separate view of the machine for each command.
        case bubblewrap
        /// Kernel rules for files and system calls. Weaker, and more programs fail under them.
        case landlock
    }

    /// What restricts the commands on this machine.
    public let kind: Kind
    /// The name for a person, with its weaknesses and their cause.
    public let words: String

    /// - Parameter cause: why there is no stricter engine.
    init(_ engine: Engine, _ cause: String?) {
        switch engine {
        case .bubblewrap: (kind, words) = (.bubblewrap, "bubblewrap")
        case .landlock(let version):
            kind = .landlock
            words =
                "Landlock (weaker: \((["\(cause ?? "it was chosen")"] + version.weaknesses).joined(separator: "; ")))"
        }
    }
}

/// Finds the strictest engine that works on this machine by running a command in it.
struct EngineSearch: Sendable {
    struct Found: Sendable {
        let engine: Engine
        /// Why the stricter engines do not work.
        let causes: [String]
    }

    /// Where systems install bubblewrap.
    var programs = ["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"].map { "\($0)/bwrap" }
    /// The Landlock version, or why there is none.
    var landlock = LandlockVersion.ofKernel()
    /// The time limit of each attempt.
    var limit = Duration.seconds(10)

    /// The engine that was found, shared by the whole process, because it does not change while a program runs. A
    /// failure is not kept, because the user may fix it.
    private static let known = Mutex<Found?>(nil)

    static func once(_ launcher: Launcher) async throws -> Found {
        if let known = known.withLock(\.self) { return known }
        do {
            // What is tried here is not what the user has asked for, and may fail.
            let found = try await Tracer.muted { try await EngineSearch().run(launcher) }
            if found.engine.usesScratch { ScratchFolder.removeLeftovers() }
            known.withLock { $0 = found }
            return found
        } catch let error as ProcessError {
            // A temporary error, not a property of the machine.
            throw SandboxError(.unavailable, "cannot check for a sandbox: \(error.message)")
        }
    }

    /// Throws `SandboxError` with all causes if no engine works, and `ProcessError` if an engine could not be tried.
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
            "commands must run in a sandbox, which does not work here (\(causes.joined(separator: "; ")));"
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
            // The first reason is that of the strictest form, which should work.
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
