public import Capabilities
import FileKit

/// Why a command could not be run in a sandbox. It was not run at all then.
public struct SandboxError: Failure, Hashable {
    public let kind: Kind
    public let message: String

    public var code: String { "sandbox.\(kind.rawValue)" }

    public var exit: ExitCode { .toolFailed }

    public enum Kind: String, Sendable {
        /// This machine has no working sandbox.
        case unavailable
        /// The folder is one around which none can be made.
        case folder
    }

    /// What a person can do where sandboxes do not work.
    public static let mend = "install the package bubblewrap; in a container, allow it to make name spaces"

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    static func notMade(_ reason: String) -> SandboxError {
        SandboxError(.unavailable, "the sandbox of the command could not be made: \(reason)")
    }

    /// What a program says first, for a person.
    static func firstLine(of bytes: [UInt8]) -> String {
        PlainText.escape(
            String(decoding: bytes.split(separator: UInt8(ascii: "\n")).first?.prefix(300) ?? [], as: UTF8.self))
    }

    /// Landlock cannot show a folder as an empty one.
    static func needsBubblewrap(_ program: String) -> SandboxError {
        SandboxError(
            .unavailable, "\(PlainText.escape(program)) is run in a sandbox of bubblewrap only; \(SandboxError.mend)")
    }

    /// What settings of git name cannot be guarded.
    static func settings(_ file: String) -> SandboxError {
        SandboxError(
            .folder,
            "commands are not run here: core.hooksPath or a path of another file in \(PlainText.escape(file)) names the folder"
                + " itself, or is written in a way that is not understood; write it as a plain path")
    }

    /// What is read of git's files; nil for what is not there, or what git cannot read either. Anything else could hide what
    /// has to be guarded.
    static func unlessAbsent<Value>(_ read: () throws(FileError) -> Value) throws(SandboxError) -> Value? {
        do throws(FileError) { return try read() } catch {
            let absent: [FileError.Kind] = [.notFound, .notDirectory, .isDirectory, .notRegular, .denied, .symlink]
            if absent.contains(error.kind) { return nil }
            throw SandboxError(
                .folder, "commands are not run here, since git may obey what cannot be read: \(error.message)")
        }
    }

    /// A link could be replaced, and what it leads to could be another thing by then.
    static func link(_ path: AbsolutePath) -> SandboxError {
        SandboxError(
            .folder,
            "commands are not run here: \(PlainText.escape(path.text)) is a link, which cannot be guarded; make it a file"
                + " or a folder")
    }
}
