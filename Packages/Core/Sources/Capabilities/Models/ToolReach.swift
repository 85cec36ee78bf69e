/// What a call would reach if it ran now, as its source understands it. Rules are compared with it, and it is what somebody
/// agrees to.
public struct ToolReach: Sendable, Hashable {
    /// The files and folders that it is about, absolute and with every link followed.
    public var paths: [AbsolutePath]
    /// Whether all that it does is to write these, in the folder that its source works in.
    public var onlyWritesPaths = false
    public var command: Command?
    /// What it would change, as a unified diff, for who is asked.
    public var diff: String?
    /// Another number when anything is another thing: a file that a link leads to, the content that would be replaced. It
    /// is compared within one process only.
    public var state: Int

    /// A command for a shell.
    public struct Command: Sendable, Hashable {
        public var text: String
        /// Whether it is kept from whatever it must not reach.
        public var isSandboxed: Bool
        /// Why it is not, or not from everything; for who is asked.
        public var caution: String?

        public init(_ text: String, isSandboxed: Bool, caution: String? = nil) {
            self.text = text
            self.isSandboxed = isSandboxed
            self.caution = caution
        }
    }

    public init(paths: [AbsolutePath] = [], command: Command? = nil, diff: String? = nil, state: Int = 0) {
        self.paths = paths
        self.command = command
        self.diff = diff
        self.state = state
    }
}

/// What a call reaches is not what was agreed to any more; nothing was done.
public struct ToolReachChanged: Error {
    public init() {}
}
