import FileKit

/// Something that a walk came by.
struct TreeEntry: Sendable {
    /// From the workspace on.
    let path: EntryPath
    let nameStart: Int
    let kind: FileInfo.Kind
    /// 1 for what is in that folder itself.
    let depth: Int
}

/// What a walk leaves out.
struct WalkRules: Sendable {
    /// Names that begin with a dot. `.git` is never entered.
    var hidden = false
    /// What `.gitignore` files say is not to be looked at.
    var ignored = false
    /// What rules keep from tools, and what is in `.git`.
    var denied = false
    var depth = Int.max
}
