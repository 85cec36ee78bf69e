import CSandboxKit
import Capabilities
public import FileKit
public import ProcessKit
import Synchronization

/// Starts commands in a sandbox of bubblewrap, in the strictest form that this machine allows.
///
/// A command is never run without: where there is no working sandbox, preparing it fails and says why.
public final class SandboxEngine: Sendable {
    /// How a command gets its own view of the machine.
    enum Form: CaseIterable {
        /// In a user name space in which no further one can be made.
        case user
        /// For bubblewrap before 0.8; the filter of system calls refuses further ones.
        case olderUser
        /// For an administrator without user name spaces, as in many containers. Without capabilities they own files
        /// only, and those outside of the folder are read-only.
        case administrator

        var options: [String] {
            switch self {
            case .user: ["--unshare-user", "--disable-userns"]
            case .olderUser: ["--unshare-user"]
            case .administrator: []
            }
        }
    }

    private let launcher: Launcher
    private let variables: [String: String]
    private let form = Mutex<Form?>(nil)

    /// - Parameter variables: all that a command gets.
    public init(launcher: Launcher, variables: [String: String]) {
        (self.launcher, self.variables) = (launcher, variables)
    }

    /// Makes a command that runs in a sandbox around a folder.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments, as they are called inside.
    ///   - folder: the one that it may write in.
    ///   - start: where it starts, inside of the folder.
    public func command(
        _ words: [String], in sandbox: Sandbox, around folder: Folder, from start: Folder
    ) async throws -> SandboxedCommand {
        let form = try await self.form()
        let guarded = try GuardedNames(in: folder, at: AbsolutePath(bytes: folder.location))
        let options = try sandbox.options(around: AbsolutePath(bytes: folder.location), guarding: guarded.mounts)
        return try SandboxedCommand(
            words, options: form.options.map(\.bytes) + options + ["--chdir".bytes, start.location],
            variables: variables, guarded: guarded)
    }

    /// What keeps sandboxes from working on this machine; nil where they work.
    public func problem() async throws -> SandboxError? {
        do {
            _ = try await form()
            return nil
        } catch let error as SandboxError {
            return error
        }
    }

    /// Tried once: what a machine allows does not change while a program runs.
    private func form() async throws -> Form {
        if let known = form.withLock(\.self) { return known }
        var reason = ""
        for form in Form.allCases {
            do {
                let view = try Sandbox().options(around: nil, guarding: [])
                let probe = try SandboxedCommand(
                    ["/bin/sh", "-c", ":"], options: form.options.map(\.bytes) + view + ["--chdir".bytes, "/".bytes],
                    variables: variables, guarded: nil)
                let done = try await launcher.run(probe.command, timeout: .seconds(10))
                withExtendedLifetime(probe) {}
                if done.status.isSuccess {
                    self.form.withLock { $0 = form }
                    return form
                }
                // The first is that of the strictest form, which should work.
                if reason.isEmpty { reason = Self.firstLine(of: done.errors) }
            } catch let error as ProcessError {
                reason = error.message
                break
            }
        }
        throw SandboxError(
            .unavailable,
            "commands have to run in a sandbox, which does not work here (\(reason)); \(SandboxError.mend)")
    }

    /// The version of libseccomp in use.
    public static var filterLibraryVersion: String {
        var (major, minor, micro): (UInt32, UInt32, UInt32) = (0, 0, 0)
        unsafe sandboxkit_library_version(&major, &minor, &micro)
        return "\(major).\(minor).\(micro)"
    }

    static func firstLine(of bytes: [UInt8]) -> String {
        PlainText.escape(
            String(decoding: bytes.split(separator: UInt8(ascii: "\n")).first?.prefix(300) ?? [], as: UTF8.self))
    }
}
