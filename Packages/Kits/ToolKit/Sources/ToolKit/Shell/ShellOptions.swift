import FileKit

/// How commands are run.
public struct ShellOptions: Sendable, Hashable {
    /// What a command is kept from.
    public enum Sandbox: Sendable, Hashable {
        /// It may do what the user may do.
        case none
        /// It sees the system read-only and without the person's home, may write only in the workspace and in a `/tmp` of
        /// its own, and has a network only if that is wanted: by bubblewrap, without which no command is run then.
        case bubblewrap(network: Bool)
    }

    /// All variables that a command gets.
    let variables: [String: String]
    let sandbox: Sandbox
    /// What a command in a sandbox does not see.
    let hidden: [String]
    /// What it sees all the same.
    let shown: [String]

    /// Of the variables only `PATH`, `HOME` and `LANG` are passed on, so that no key in others gets into a command.
    ///
    /// - Parameters:
    ///   - hidden: what a command in a sandbox must not see even beneath its workspace: folders with secrets, sockets.
    ///     The person's home and what runs for them (`/run`) are hidden in any case.
    ///   - shown: what of the home it may read.
    public init(
        environment: [String: String], sandbox: Sandbox = .none, hiding hidden: [String] = [],
        showing shown: [String] = []
    ) {
        variables = [
            "PATH": environment["PATH"] ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": environment["HOME"] ?? "/", "LANG": environment["LANG"] ?? "C.UTF-8", "TERM": "dumb",
        ]
        self.sandbox = sandbox
        let homes = [environment["HOME"], environment["XDG_RUNTIME_DIR"]].compactMap(\.self)
        self.hidden = homes.filter { $0.hasPrefix("/") } + ["/run"] + hidden
        self.shown = shown
    }

    /// With the variables of this process.
    public init(sandbox: Sandbox = .none) {
        self.init(environment: Environment.snapshot(), sandbox: sandbox)
    }
}
