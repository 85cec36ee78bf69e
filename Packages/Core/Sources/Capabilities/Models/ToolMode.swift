/// How far a model goes without anybody being asked, where no rule says anything else.
public enum ToolMode: String, Choice, Hashable {
    /// It looks around.
    case readOnly = "read-only"
    /// It also writes files in the folder that it works in.
    case workspace
    /// It also runs commands, in a sandbox.
    case full
}
