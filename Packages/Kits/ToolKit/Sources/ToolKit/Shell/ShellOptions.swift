import FileKit
import ProcessKit
public import SandboxKit

/// How commands are run.
public struct ShellOptions: Sendable, Hashable {
    /// All variables that a command gets.
    let variables: [String: String]
    /// What a command sees and may change; nil where it may do what the user may do.
    public let sandbox: Sandbox?

    /// Of the variables only `PATH`, `HOME` and `LANG` are passed on, so that no key in others gets into a command.
    public init(environment: [String: String], sandbox: Sandbox?) {
        variables = [
            "PATH": environment["PATH"] ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": environment["HOME"] ?? "/", "LANG": environment["LANG"] ?? "C.UTF-8", "TERM": "dumb",
        ]
        var sandbox = sandbox
        sandbox?.gitFiles = Sandbox.gitFiles(in: environment)
        self.sandbox = sandbox
    }

    /// Whether commands are kept from anything.
    public var isSandboxed: Bool { sandbox != nil }

    /// What sandboxes are made by on this machine; throws `SandboxError` where none can be.
    public func sandboxSupport() async throws -> SandboxSupport {
        try await SandboxEngine(launcher: Launcher(), variables: variables).support()
    }

    /// With the variables of this process, in a sandbox without a network.
    public init() {
        let environment = Environment.snapshot()
        self.init(environment: environment, sandbox: Sandbox(home: environment["HOME"]))
    }
}
