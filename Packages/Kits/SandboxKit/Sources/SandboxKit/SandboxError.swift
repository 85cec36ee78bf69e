public import Capabilities
import FileKit

/// Why a command could not run in a sandbox. The command was not run at all.
public struct SandboxError: Failure, Hashable {
    /// The stable reason.
    public let kind: Kind
    public let message: String

    public var code: String { "sandbox.\(kind.rawValue)" }

    public var exit: ExitCode { .toolFailed }

    /// Why there was no sandbox.
    public enum Kind: String, Sendable {
        /// This machine has no working sandbox.
        case unavailable
        /// No sandbox can be created around this folder.
        case folder
    }

    /// The remedy if sandboxes do not work.
    public static let mend = "install the package bubblewrap; in a container, allow it to create namespaces"

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    static func notMade(_ reason: String) -> SandboxError {
        SandboxError(.unavailable, "cannot create the sandbox of the command: \(reason)")
    }

    /// The first line of a program's output, for a person.
    static func firstLine(of bytes: [UInt8]) -> String {
        PlainText.escape(
            String(decoding: bytes.split(separator: UInt8(ascii: "\n")).first?.prefix(300) ?? [], as: UTF8.self))
    }

    /// Landlock cannot show a folder as empty.
    static func needsBubblewrap(_ program: String) -> SandboxError {
        SandboxError(
            .unavailable, "\(PlainText.escape(program)) can run only in a bubblewrap sandbox; \(SandboxError.mend)")
    }

    /// A path in git settings that cannot be guarded.
    static func settings(_ file: String) -> SandboxError {
        SandboxError(
            .folder,
            "cannot run commands here: core.hooksPath or an included path in \(PlainText.escape(file)) names the folder"
                + " itself or uses unsupported syntax; write it as a plain path")
    }

    /// Reads one of git's files; nil if it does not exist or git cannot read it either. Any other error could hide
    /// files that must be guarded.
    static func unlessAbsent<Value>(_ read: () throws(FileError) -> Value) throws(SandboxError) -> Value? {
        do throws(FileError) { return try read() } catch {
            let absent: [FileError.Kind] = [.notFound, .notDirectory, .isDirectory, .notRegular, .denied, .symlink]
            if absent.contains(error.kind) { return nil }
            throw SandboxError(
                .folder, "cannot run commands here: cannot read a file that git may obey: \(error.message)")
        }
    }

    /// A link could be replaced, so that the guard would protect something else.
    static func link(_ path: AbsolutePath) -> SandboxError {
        SandboxError(
            .folder,
            "cannot run commands here: \(PlainText.escape(path.text)) is a link, which cannot be guarded; replace it"
                + " by a file or folder")
    }
}
