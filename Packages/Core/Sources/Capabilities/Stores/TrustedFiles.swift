/// The files of projects that the person has read and agreed to, each with the content that it had then.
public protocol TrustedFiles: AnyObject, Sendable {
    /// Whether the person agreed to exactly this content of the file at this path.
    func trusts(_ path: String, content: [UInt8]) -> Bool
}

/// Knows what a project's file brings along, so that whoever trusts the file is shown all of it.
public protocol CompanionFiles: AnyObject, Sendable {
    /// The other files that this one makes use of, at any depth, with what is in them.
    ///
    /// - Parameter folder: the project's, outside of which nothing is brought along.
    func companions(of path: String, content: [UInt8], in folder: String) -> [(path: String, content: [UInt8])]
}
