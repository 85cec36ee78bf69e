import ProcessKit
public import SandboxKit

extension Workspace {
    /// Prepares a program that brings its own tools, to work in this folder in a sandbox that hides what rules keep from tools.
    ///
    /// - Parameter variables: the whole environment of the program.
    /// - Returns: the command to start, and why it can still reach something that a rule denies; nil where it cannot.
    public func sandboxed(
        _ words: [String], variables: [String: String], in sandbox: Sandbox
    ) async throws -> (program: SandboxedCommand, gap: String?) {
        let shades = try await work { try self.shades($0) }
        var sandbox = sandbox
        sandbox.hidden += shades.hidden
        sandbox.kept += shades.kept
        let engine = SandboxEngine(launcher: Launcher(), variables: variables)
        return (try await engine.command(words, in: sandbox, around: root, from: root), shades.gap)
    }
}
