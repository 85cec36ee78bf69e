extension Command {
    /// Rules by which the kernel keeps a child and all that it starts from files and system calls, and from ever getting
    /// more rights than this process has: no capability is left to it, and no program gives it one. Where an administrator
    /// starts it, it has no further groups either.
    ///
    /// A child to which they cannot be applied is not started; the error is `ProcessError.Kind.notRestricted`.
    public struct Restriction: Sendable {
        /// The descriptor of a set of rules of Landlock. Whoever makes it keeps it open until the child has started.
        public var ruleset: Int32
        /// The filter of system calls: instructions for seccomp, each of eight bytes. It is obeyed from the call on that
        /// starts the program.
        public var filter: [UInt8]

        /// These rules, all of them.
        public init(ruleset: Int32, filter: [UInt8]) {
            self.ruleset = ruleset
            self.filter = filter
        }
    }
}
