import Capabilities

/// Why an intention does not go on.
enum Stop: Error {
    /// These calls have to be answered first.
    case waits([ToolCall])
    /// A tool that it needs is not there.
    case lacks(Tool)
    /// A tool could not do it, in its own words.
    case failed(Tool, String)
    /// Somebody did not allow a call, or stopped it.
    case denied(Tool, String)
    /// It cannot be done, for a reason of our own.
    case impossible(String)
}

/// The tools that the planner knows, by the names that their source gives them.
enum Tool: String, CaseIterable {
    case read = "fs.read"
    case write = "fs.write"
    case list = "ls"
    case glob = "glob"
    case search = "grep.search"
    case edit = "multi.edit"
    case shell = "bash.run"
}
