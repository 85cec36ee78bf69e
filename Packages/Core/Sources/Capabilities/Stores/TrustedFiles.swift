/// The files of projects that the person has read and agreed to, each with the content that it had then.
public protocol TrustedFiles: AnyObject, Sendable {
    /// Whether the person agreed to exactly this content of the file at this path.
    func trusts(_ path: String, content: [UInt8]) -> Bool
}
