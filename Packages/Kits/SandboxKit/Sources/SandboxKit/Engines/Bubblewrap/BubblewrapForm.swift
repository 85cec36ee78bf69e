/// How bubblewrap gives a command its own view of this machine.
struct BubblewrapForm: Hashable, Sendable {
    /// The strictest first.
    enum Kind: CaseIterable {
        /// In a user name space in which no further one can be made.
        case user
        /// For bubblewrap before 0.8; the filter of system calls refuses further ones.
        case olderUser
        /// For an administrator without user name spaces, as in many containers. Without capabilities they own files
        /// only, and those outside of the folder are read-only.
        case administrator
    }

    /// Where it is installed.
    let program: String
    let kind: Kind

    var options: [String] {
        switch kind {
        case .user: ["--unshare-user", "--disable-userns"]
        case .olderUser: ["--unshare-user"]
        case .administrator: []
        }
    }
}
